#!/usr/bin/env python3
"""reached.py BIN TESTS SOURCE [--sanitized] [NAME...]: every code of the error catalogue is reached by a test.

BIN has viaduct-run and viaduct-info, TESTS the test programs, SOURCE is the root of the sources.  Each case of CASES runs
one command, whose output must have the codes of all errors that the case names.  ELSEWHERE has the errors that tests of
other suites reach: the file must name the code, as in VIA-0101.  What neither has is reported.  With names, only the cases
that have one of them are run.  --sanitized leaves out the case that takes all descriptors: the sanitizer needs some, too.
"""
import concurrent.futures
import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile

LIMIT = 100  # seconds, which only a hang reaches
ENTRY = re.compile(r"^(VIA-\d{4}) \((.*)\)$")
SECRET = {"VIADUCT_JOB_SECRET": "0123456789abcdef0123456789abcdef"}
HOSTS = ["--remote-command", "/usr/bin/env VIADUCT_HOST_KEY={host} /bin/sh -c {command}", "--hosts", "a,b"]


def at_address(rank, **more):
    """The environment of a rank that finds the others at an address where nobody is."""
    return {"VIADUCT_RENDEZVOUS": "tcp://127.0.0.1:9", "VIADUCT_RANK": str(rank), "VIADUCT_SIZE": "2",
            "VIADUCT_JOIN_TIMEOUT": "200ms", **SECRET, **more}


# (names, ranks or options of viaduct-run; None: started without it, program and arguments, variables)
CASES = [
    ("no_launcher", None, "errors_provoke runtime", {"OMPI_COMM_WORLD_SIZE": "2"}),
    ("not_from_launcher", None, "errors_provoke runtime", {"VIADUCT_JOB_ID": "x"}),
    ("bad_setting", 1, "errors_provoke runtime", {"VIADUCT_SPIN_NS": "many"}),
    ("bad_setting", 1, "splitc_misuse null_read", {"VIADUCT_SPLITC_STAGING": "5000"}),
    ("settings_differ", 2, "sh -c 'test $VIADUCT_RANK = 1 && export VIADUCT_AM_CREDITS=7; exec errors_provoke messages'", {}),
    ("second_job no_such_rank window_full bad_alignment nothing_published bootstrap_too_long", 1,
     "errors_provoke runtime", {}),
    ("job_of_threads", ["-n", "2", "--mode", "threads"], "errors_provoke direct", {}),
    ("forked_child", 1, "am_violation reply_in_child", {}),
    ("other_host", HOSTS, "errors_provoke other_host", {}),
    ("program_threw rank_failed", 1, "errors_provoke throw", {}),
    ("no_such_code", None, "viaduct-info explain VIA-9999", {}),
    ("system_refused", None, "sh -c 'ulimit -n 7; exec viaduct-run -n 2 true'", {}),
    ("file_size_limit", None, "sh -c 'ulimit -f 0; exec viaduct-run -n 2 true'", {}),
    ("not_allocated", 1, "errors_provoke release", {}),
    ("lost_at_fence", ["-n", "3", "--keep-going"],
     "sh -c 'test $VIADUCT_RANK = 1 && exit 0; exec errors_provoke runtime'", {}),
    ("launcher_lost", 1, "errors_provoke launcher_lost", {}),
    ("rank_left", 2, "launcher_actor tag close-socket", {}),
    ("job_of_two_threads", 2, "errors_provoke two_threads", {}),
    ("rendezvous_setting", None, "errors_provoke runtime", {"VIADUCT_RENDEZVOUS": "tcp://127.0.0.1:9"}),
    ("hub_address", None, "errors_provoke runtime", at_address(0, VIADUCT_RENDEZVOUS="tcp://192.0.2.1:4000")),
    ("job_not_begun", None, "errors_provoke runtime", at_address(1)),
    ("bad_command_line", None, "viaduct-run --nonsense", {}),
    ("program_not_started", None, "viaduct-run -n 1 /no/such/program", {}),
    ("descriptor_limit", None, "sh -c 'ulimit -n 40; exec viaduct-run -n 200 true'", {}),
    ("time_limit", ["-n", "1", "--timeout", "0.2"], "sleep 100", {}),
    ("socket_misused", 3, "launcher_actor tag garbage 1 1", {}),
    ("agent_absent", ["--remote-command", "/bin/false {host} {command}", "--hosts", "b"], "true", {}),
    ("remote_order", None, "viaduct-run --agent", {}),
    ("refused_call no_such_provider no_such_tag tag_in_use bad_memory_range private_memory bad_attributes too_many_objects "
     "bad_fault_setting", 1, "errors_provoke vi", {}),
    ("one_provider", 1, "errors_provoke vipl", {}),
    ("regions_used_up", 1, "errors_provoke small_nic", {"VIADUCT_SHM_REGIONS": "64"}),
    ("hosts_unreachable", HOSTS, "launcher_actor tag nic", {}),
    ("rdma_device", 1, "errors_provoke open_nic", {"VIADUCT_PROVIDER": "verbs"}),
    ("nic_of_two_threads", 1, "am_violation poll_two_bundles", {}),
    ("undeliverable", 1, "am_violation default_handler_0", {}),
    ("handler_communicates", 1, "am_violation poll_in_request", {}),
    ("bundle_of_two_threads", 1, "am_violation request_beside_wait", {}),
    ("no_result", 1, "errors_provoke no_result", {}),
    ("future_awaited", 1, "errors_provoke future_awaited", {}),
    ("no_state", 1, "errors_provoke no_state", {}),
    ("too_many endpoint_in_use index_in_use bad_argument", 1, "errors_provoke messages", {}),
    ("standstill", 1, "am_test standstill.each_with_itself", {}),
    ("endpoint_left", 1, "am_violation endpoint_left", {}),
    ("no_such_process", 2, "splitc_misuse behind_last_read", {}),
    ("null_pointer", 2, "splitc_misuse null_read", {}),
    ("wild_pointer", 2, "splitc_misuse nowhere_read", {}),
    ("outside_splitc_main", 1, "splitc_misuse_outside before read", {}),
    ("communication_in_function", 2, "splitc_misuse read_in_function", {}),
    ("wait_in_handler", 2, "mixed_in_handler read", {"VIADUCT_SPLITC_PATH": "message"}),
    ("collectives_differ", 2, "splitc_collective_wrong kind", {}),
    ("barrier_order", 2, "splitc_collective_wrong wait_alone", {}),
    ("spread_memory_full", 2, "splitc_misuse exhaust_all_malloc", {}),
    ("not_an_array", 2, "splitc_misuse free_twice", {}),
    ("function_threw", 2, "splitc_misuse function_throws", {}),
    ("function_elsewhere", 2, "errors_split_c library", {}),
    ("bad_lock", 2, "splitc_misuse unlock_of_free", {}),
    ("waits_for_ever", 2, "errors_split_c waits", {}),
    ("process_lost rank_failed", ["-n", "2", "--keep-going"], "errors_split_c lost", {}),
    ("split_c_again", 1, "errors_provoke split_c_twice", {}),
    ("programs_differ", 2, "sh -c 'test $VIADUCT_RANK = 1 && exec splitc_misuse; exec errors_split_c'", {}),
    ("region_refused", 1, "errors_split_c", {"VIADUCT_SEGMENT_BASE": "4M"}),
    ("no_such_counter", 1, "errors_split_c counter", {}),
    ("out_of_bounds", 2, "checked_mistakes behind_read", {}),
    ("freed_memory", 2, "checked_mistakes freed_array", {}),
    ("source_changed", 2, "checked_mistakes source_changed", {}),
]
ELSEWHERE = {
    "job_too_large": "tests/unit/runtime/job_size_test.cpp",
    "memory_short": "tests/unit/runtime/segment_test.cpp",
    "address_space": "tests/multiprocess/launcher_job_test.cpp",
    "pmix_library": "tests/multiprocess/launcher_pmix_test.cpp",
    "pmix_server": "tests/multiprocess/launcher_pmix_test.cpp",
    "wrong_secret": "tests/multiprocess/launcher_refusal_test.cpp",
    "not_the_hub": "tests/multiprocess/launcher_refusal_test.cpp",
    "page_damaged": "tests/multiprocess/launcher_hostile_test.cpp",
    "grace_over": "tests/multiprocess/launcher_streams_test.cpp",
    "launcher_killed": "tests/multiprocess/launcher_streams_test.cpp",
    "host_lost": "tests/multiprocess/launcher_hosts_test.cpp",
    "locked_memory": "tests/verbs-vm/memory_lock.sh",
    "const_memory": "tests/unit/via/registration_cache_test.cpp",
    "handler_library": "tests/unit/am/registry_list_test.cpp",
    "handlers_differ": "tests/multiprocess/am_registry_two_programs.sh",
    "too_many_handlers": "tests/unit/am/registry_test.cpp",
    "nonsense": "tests/fault/matrix_test.cpp",
    "unfit_program": "tests/split-c/CMakeLists.txt",
    "spread_array": "tests/split-c/CMakeLists.txt",
    "old_machine": "tests/splitcc/old_programs.sh",
    "no_such_timer": "tests/splitcc/old_programs.sh",
}


class Programs:
    """Where programs are, and how they are run."""

    def __init__(self, bin_folder, tests):
        self.run = os.path.join(bin_folder, "viaduct-run")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("VIADUCT_")}
        self.environment["PATH"] = os.pathsep.join([bin_folder, tests, self.environment.get("PATH", "/bin")])

    def said(self, how, program, variables, **more):
        command = ["sh", "-c", "exec " + program]
        if how is not None:
            options = how if isinstance(how, list) else ["-n", str(how)]
            if "--timeout" not in options:
                options = options + ["--timeout", str(LIMIT - 10)]
            command = [self.run, *options, *command]
        done = subprocess.run(command, env={**self.environment, **variables}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT, check=False, **more)
        return done.stdout.decode(errors="replace")


def of_another_version(programs):
    """What a rank says whose job page is of no version of the library."""
    page = os.memfd_create("page", 0)
    os.truncate(page, 1 << 20)
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with here, there:
        variables = {"VIADUCT_JOB_ID": "x", "VIADUCT_SIZE": "1", "VIADUCT_RANK": "0", "VIADUCT_PAGE_FD": str(page),
                     "VIADUCT_BOOTSTRAP_FD": str(here.fileno())}
        return programs.said(None, "errors_provoke runtime", variables, pass_fds=[page, here.fileno()])


def without_terminal(programs):
    """What viaduct-run says when its terminal goes away."""
    with tempfile.TemporaryFile() as words:
        pid, terminal = pty.fork()
        if pid == 0:
            os.dup2(words.fileno(), 2)
            os.execve(programs.run, [programs.run, "-n", "1", "sh", "-c", "echo ready; exec sleep 100"],
                      programs.environment)
        select.select([terminal], [], [], LIMIT)
        os.close(terminal)
        signal.alarm(LIMIT)
        os.waitpid(pid, 0)
        signal.alarm(0)
        words.seek(0)
        return words.read().decode(errors="replace")


SPECIAL = [("versions_differ", of_another_version), ("terminal_gone", without_terminal)]


def catalogue(programs):
    """name: code, of all entries."""
    lines = programs.said(None, "viaduct-info explain", {}).splitlines()
    entries = {m[2].replace(" ", "_"): m[1] for m in map(ENTRY.match, lines) if m}
    if len(entries) < 50:
        raise SystemExit("reached.py: viaduct-info explain lists no catalogue:\n" + "\n".join(lines))
    return entries


def main():
    programs, source, wanted = Programs(*sys.argv[1:3]), sys.argv[3], set(sys.argv[4:])
    left_out = {"system_refused"} if "--sanitized" in wanted else set()
    wanted.discard("--sanitized")
    code_of = catalogue(programs)
    jobs = [(names.split(), lambda how=how, program=program, variables=variables:
             programs.said(how, program, variables)) for names, how, program, variables in CASES]
    jobs += [([name], lambda act=act: act(programs)) for name, act in SPECIAL]
    jobs = [(names, act) for names, act in jobs if not wanted or wanted & set(names)]
    jobs = [(names, act) for names, act in jobs if not left_out & set(names)]
    failures = []
    named = {name for names, _ in jobs for name in names} | left_out
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (names, _), said in zip(jobs, pool.map(lambda job: job[1](), jobs)):
            for name in names:
                if name not in code_of:
                    failures.append(f"{name} is no error of the catalogue")
                elif f"[{code_of[name]}]" not in said:
                    failures.append(f"{name}: no [{code_of[name]}] in what was said:\n{said}")
    for name, path in ELSEWHERE.items():
        with open(os.path.join(source, path), encoding="utf-8") as text:
            if name not in code_of:
                failures.append(f"{name} is no error of the catalogue")
            elif code_of[name] not in text.read():
                failures.append(f"{name}: {path} does not name {code_of[name]}")
    if not wanted:
        for name in sorted(set(code_of) - named - set(ELSEWHERE)):
            failures.append(f"no test reaches {name} ({code_of[name]})")
    for failure in failures:
        print("reached.py:", failure, file=sys.stderr)
    print(f"{len(code_of)} codes, {len(jobs)} runs, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
