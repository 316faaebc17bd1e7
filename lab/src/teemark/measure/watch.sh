# SPDX-License-Identifier: BSD-2-Clause
# Runs on the board, for any POSIX shell (measure/watching.py):
#   run FOLDER events|windows BYTES PROGRAM [ARG]…   runs a program with the library preloaded
#   attach PID SECONDS                               prints the events of a process that runs already

# How threads wait in the kernel's driver, by its functions: for a thread of OP-TEE, for
# tee-supplicant, or because a lock in OP-TEE's core or the TA's instance is taken.
waits="thread:optee_cq_wait_for_completion supplicant:optee_supp_thrd_req lock:optee_notif_wait"

begin_waits() {
  for w in $waits; do
    echo "p:teemark$$/wait_${w%%:*} ${w#*:}" >>$t/kprobe_events
    echo "r:teemark$$/done_${w%%:*} ${w#*:}" >>$t/kprobe_events
  done
  echo 1 >$i/events/teemark$$/enable
} 2>/dev/null

begin_events() { # of the process $1 and those that it starts from now on; without it of all
  t=/sys/kernel/tracing
  [ -e $t/trace_clock ] || mount -t tracefs nodev $t
  i=$t/instances/teemark-$$
  if mkdir $i && echo mono >$i/trace_clock && echo 8192 >$i/buffer_size_kb &&
    { [ -z "$1" ] || { echo 1 >$i/options/event-fork && ls "/proc/$1/task" >$i/set_event_pid; }; } &&
    echo 1 >$i/events/optee/enable; then begin_waits; else
    rmdir $i
    i=
  fi
} 2>/dev/null

end_events() {
  echo 0 >$i/tracing_on
  grep -h overrun $i/per_cpu/cpu*/stats
  grep -E 'optee_invoke_fn|(wait|done)_(thread|supplicant|lock): ' $i/trace
  echo 0 >$i/events/optee/enable
  echo 0 >$i/events/teemark$$/enable
  for w in $waits; do
    echo "-:teemark$$/wait_${w%%:*}" >>$t/kprobe_events
    echo "-:teemark$$/done_${w%%:*}" >>$t/kprobe_events
  done
  rmdir $i
} 2>/dev/null

i=
if [ "$1" = attach ]; then
  pid=$2 left=$3
  [ -d "/proc/$pid" ] || exit 3
  begin_events "$pid"
  [ "$i" ] || exit 4
  cat /proc/uptime
  trap left=0 INT TERM HUP
  while [ "$left" -gt 0 ] && [ -d "/proc/$pid" ]; do
    sleep 1
    left=$((left - 1))
  done
  cat /proc/uptime
  end_events
  exit 0
fi

d=$2 trace=$3 size=$4
shift 4
dd if=/dev/null of="$d/calls" bs=1 seek="$size" 2>/dev/null || exit 125
[ "$trace" != events ] || begin_events
export PATH="$d/bin:$PATH"
LD_LIBRARY_PATH="$d/bin${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"; export LD_LIBRARY_PATH
[ "$trace" = windows ] && TEEMARK_WATCH_TRACE=1 && export TEEMARK_WATCH_TRACE
trap : INT TERM HUP # they end the program, whose calls are then fetched
(
  export TEEMARK_WATCH="$d/calls" LD_PRELOAD="$d/libteewatch.so"
  exec "$@"
) >"$d/out" 2>&1
status=$?
[ -z "$i" ] || end_events >"$d/events" || end_events # a killed teemark's folder is gone
exit $status
