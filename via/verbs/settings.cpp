#include "via/verbs/settings.hpp"

#include <array>

namespace viaduct::via::verbs {

namespace {

using config::Option;
using config::Type;

constexpr std::array<Option, 16> kOptions{
    Option{"device", "VIADUCT_VERBS_DEVICE", "auto", "", Type::text, 0, 0, "",
           "RDMA device, as NAME, NAME:PORT or NAME:PORT:GID-INDEX; several, separated by commas, "
           "are taken by the ranks of a host in turn; auto: the fastest port that is up",
           offsetof(Settings, device)},
    Option{"regions", "VIADUCT_VERBS_REGIONS", "4096", "", Type::integer, 1, 1 << 20, "",
           "memory regions a rank may have registered at once", offsetof(Settings, max_regions)},
    Option{"queue_depth", "VIADUCT_VERBS_QUEUE_DEPTH", "4096", "", Type::integer, 64, 32768, "",
           "largest depth of a send or receive queue", offsetof(Settings, max_queue_depth)},
    Option{"inline", "VIADUCT_VERBS_INLINE", "256", "bytes", Type::bytes, 0, 4096, "",
           "sends of up to so many bytes are copied when they are posted; the device may allow "
           "less",
           offsetof(Settings, inline_bytes)},
    Option{"timeout", "VIADUCT_VERBS_TIMEOUT", "14", "", Type::integer, 1, 31, "",
           "a packet that is not acknowledged within 4.096 us times 2 to this power is sent again",
           offsetof(Settings, timeout)},
    Option{"retries", "VIADUCT_VERBS_RETRIES", "6", "", Type::integer, 0, 7, "",
           "times that a packet is sent again before the peer is lost (Soft-RoCE takes 7 for "
           "ever)",
           offsetof(Settings, retries)},
    Option{"rnr_retries", "VIADUCT_VERBS_RNR_RETRIES", "6", "", Type::integer, 0, 7, "",
           "times that a message is sent again to a peer that has posted no receive (7: for ever)",
           offsetof(Settings, rnr_retries)},
    Option{"service_level", "VIADUCT_VERBS_SERVICE_LEVEL", "0", "", Type::integer, 0, 15, "",
           "service level of all connections", offsetof(Settings, service_level)},
    Option{"traffic_class", "VIADUCT_VERBS_TRAFFIC_CLASS", "0", "", Type::integer, 0, 255, "",
           "traffic class of all connections, where packets have one (RoCE)",
           offsetof(Settings, traffic_class)},
    Option{"link_depth", "VIADUCT_VERBS_LINK_DEPTH", "15", "", Type::integer, 8, 4096, "",
           "places of the send queue to each peer, for Active Messages and Split-C",
           offsetof(Settings, link_depth)},
    Option{
        "link_inline", "VIADUCT_VERBS_LINK_INLINE", "192", "bytes", Type::bytes, 0, 4096, "",
        "messages of up to so many bytes are copied into the send queue, for Active Messages and "
        "Split-C",
        offsetof(Settings, link_inline_bytes)},
    Option{"shared_receives", "VIADUCT_VERBS_SHARED_RECEIVES", "yes", "", Type::boolean, 0, 1, "",
           "one receive queue for all peers, for Active Messages and Split-C; no: one for each",
           offsetof(Settings, shared_receives)},
    Option{"silence", "VIADUCT_VERBS_SILENCE", "60s", "ns", Type::time_ns, 0,
           std::int64_t{24} * 3600 * 1'000'000'000, "",
           "a rank that this one connects to and that shows no sign of life for so long, "
           "computing or not, is out of reach; 0: it is waited for",
           offsetof(Settings, silence_ns)},
    Option{"keepalive", "VIADUCT_VERBS_KEEPALIVE", "1s", "ns", Type::time_ns, 0,
           std::int64_t{24} * 3600 * 1'000'000'000, "",
           "how often a connection with nothing under way is tried, so that a rank which only "
           "waits learns of a peer that cannot be reached (10 ms at least); 0: never",
           offsetof(Settings, keepalive_ns)},
    Option{"pinned_bytes", "VIADUCT_VERBS_PINNED_BYTES", "auto", "bytes", Type::bytes, 0,
           std::int64_t{1} << 50, "",
           "memory of bulk transfers that a rank keeps registered; 0: none, they are copied; "
           "auto: half of the limit of locked memory, without one 1G or an eighth of the "
           "machine's memory",
           offsetof(Settings, pinned_bytes)},
    Option{"cache_from", "VIADUCT_VERBS_CACHE_FROM", "64K", "bytes", Type::bytes, 0,
           std::int64_t{1} << 50, "",
           "bulk transfers from this length on go from and to registered memory, shorter ones "
           "are copied",
           offsetof(Settings, cache_from)},
};

}  // namespace

std::span<const Option> options() noexcept { return kOptions; }

}  // namespace viaduct::via::verbs
