import type { Owner } from '@jackin/core';

const IMAGE_HOME = '/home/agent';
const USER_NAME = 'agent';

/** How the builder's output is told to be about the step added here, and what that is called. */
export const OWN_STEP = `home=${IMAGE_HOME} name=${USER_NAME}`;
export const OWN_STEP_NAME = '(user and directories, added by jackin)';

/**
 * The Dockerfile that is built: the role's own and, for its last stage, what every instance needs (docs/architecture.md#images).
 * A passwd entry for the user with the home `/home/agent`, the directories jackin mounts into, and no command of its
 * own. Needs nothing of the image but `/bin/sh`, `mkdir`, `chown` and `chmod`.
 */
export function deriveDockerfile(role: string, user: Owner): string {
  return [
    // Without its end of line the first of ours would become part of the role's last.
    role.endsWith('\n') ? role : `${role}\n`,
    '# Added by jackin.\n',
    // By number: an image need not have the name, nor a passwd file.
    'USER 0:0\n',
    // As a list: a SHELL of the role must not run it, and no escape character touches it.
    `RUN ${JSON.stringify(['/bin/sh', '-c', userScript(user)])}\n`,
    `ENV HOME=${IMAGE_HOME}\n`,
    `USER ${user.uid}:${user.gid}\n`,
    // An inherited one would keep `stop` from reaching the supervisor as what it waits for.
    'STOPSIGNAL SIGTERM\n',
    'ENTRYPOINT []\n',
    'CMD []\n',
  ].join('');
}

/**
 * One LABEL instruction. Values are written as they are and must not need quoting.
 * @throws RangeError for a value that would
 */
export function labelInstruction(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => {
    if (!/^[\w./:@+,|=-]*$/.test(value))
      throw new RangeError(`not the value of a label: ${JSON.stringify(value)}`);
    return `${name}="${value}"`;
  });
  return `LABEL ${pairs.join(' ')}\n`;
}

/** Builtins only where there is a choice: small images have neither awk nor sed nor useradd. */
function userScript({ uid, gid }: Owner): string {
  return `set -eu
PATH=$PATH:/usr/sbin:/usr/bin:/sbin:/bin
user=${uid} group=${gid} ${OWN_STEP}
newline='
'
[ -e /etc/passwd ] || : > /etc/passwd
[ -e /etc/group ] || : > /etc/group
usable=/bin/sh
[ ! -x /bin/bash ] || usable=/bin/bash

# free FILE: a name that nobody has in FILE
free() {
  free=$name
  while taken "$1" "$free"; do free="$free$2"; done
}
taken() {
  while IFS=: read -r entry rest || [ -n "$entry" ]; do
    [ "$entry" != "$2" ] || return 0
  done < "$1"
  return 1
}

text= found=
while IFS= read -r line || [ -n "$line" ]; do
  case $line in
    *:*:"$user":*:*:*:*)
      rest=\${line#*:*:}
      if [ "\${rest%%:*}" = "$user" ]; then
        found=1
        tail=\${line#*:*:*:*:*:}
        shell=\${tail#*:}
        case $shell in
          */nologin | */false | '') shell=$usable ;;
        esac
        [ -x "$shell" ] || shell=$usable
        line=\${line%"$tail"}$home:$shell
      fi
      ;;
  esac
  text=$text$line$newline
done < /etc/passwd
if [ -z "$found" ]; then
  free /etc/passwd "$user"
  text="$text$free:*:$user:$group::$home:$usable$newline"
fi
printf %s "$text" > /etc/passwd

text= found=
while IFS= read -r line || [ -n "$line" ]; do
  rest=\${line#*:*:}
  [ "\${rest%%:*}" != "$group" ] || found=1
  text=$text$line$newline
done < /etc/group
if [ -z "$found" ]; then
  free /etc/group "$group"
  printf '%s%s:*:%s:\\n' "$text" "$free" "$group" > /etc/group
fi

mkdir -p "$home" /jackin/run /jackin/state /jackin/runtime
chown "$user:$group" "$home" /jackin/run /jackin/state
chmod 755 /jackin "$home"
`;
}
