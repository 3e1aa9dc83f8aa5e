# Sourced by tests: an ssh server of its own, with keys, ports and configuration in a folder of the test.

# start_sshd FOLDER ADDRESS...: starts it at the addresses. Afterwards $ssh is the command that logs in, in words for a
# shell, $sshd_pid the server. Answers 1 with the reason in $sshd_problem where it cannot be.
start_sshd() {
  local folder=$1 address server
  shift
  server=$(PATH=$PATH:/usr/sbin:/sbin command -v sshd) || { sshd_problem="no sshd here (Debian: openssh-server)"; return 1; }
  command -v ssh ssh-keygen >/dev/null || { sshd_problem="no ssh here (Debian: openssh-client)"; return 1; }
  # A server that root runs keeps a part of itself in this folder.
  if [ "$(id -u)" = 0 ] && ! mkdir -p /run/sshd; then sshd_problem="cannot make /run/sshd"; return 1; fi
  ssh-keygen -q -t ed25519 -N '' -f "$folder/server key" && ssh-keygen -q -t ed25519 -N '' -f "$folder/user key" ||
    { sshd_problem="cannot make keys"; return 1; }
  cp "$folder/user key.pub" "$folder/authorized"
  sshd_port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("", 0))
print(s.getsockname()[1])')
  {
    for address in "$@"; do echo "ListenAddress $address"; done
    cat <<END
Port $sshd_port
HostKey "$folder/server key"
AuthorizedKeysFile "$folder/authorized"
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
MaxStartups 100
END
  } >"$folder/sshd_config"
  "$server" -D -e -f "$folder/sshd_config" >"$folder/sshd.log" 2>&1 </dev/null &
  sshd_pid=$!
  for address in "$@" localhost; do
    echo "[$address]:$sshd_port $(cut -d' ' -f1,2 "$folder/server key.pub")"
  done >"$folder/known"
  ssh="ssh -F none -p $sshd_port -i '$folder/user key' -o BatchMode=yes -o IdentitiesOnly=yes"
  ssh+=" -o UserKnownHostsFile='\"$folder/known\"' -o GlobalKnownHostsFile=none -o ConnectTimeout=10"
  for _ in $(seq 100); do
    local status=0
    eval "$ssh $1 true" >"$folder/ssh.log" 2>&1 || status=$?
    [ $status != 0 ] || return 0
    [ $status = 255 ] && kill -0 $sshd_pid 2>/dev/null || break # the account takes no commands, the server has ended
    sleep 0.1
  done
  sshd_problem="nobody can log in: $(tail -n 3 "$folder/ssh.log" "$folder/sshd.log" | tr '\n' ' ')"
  return 1
}
