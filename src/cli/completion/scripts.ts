/** `vitrine completions`: prints the script that a shell loads once, and which then calls `vitrine complete`. */
import { script } from '@bomb.sh/tab';

/** Prints the script. @param shell bash, zsh, fish or pwsh */
export function printScript(shell: string): void {
  if (shell === 'bash') process.stdout.write(BASH);
  else script(shell === 'pwsh' ? 'powershell' : shell, 'vitrine', 'vitrine');
}

/**
 * Our own script instead of the library's. The library's script lets the shell expand names from a server, splits words
 * at colons, and completes no files. This one also runs in the bash 3.2 of macOS.
 */
const BASH = `# Completes vitrine in bash: source <(vitrine completions bash)
_vitrine() {
  local word line name glue=0 count=0 directive=4 words tail cur prefix
  words=()
  # bash takes words apart at colons and equals signs.
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ $word =~ ^[:=]+$ ]] && ((count)); then
      words[count-1]+=$word
      glue=1
    elif ((glue)); then
      words[count-1]+=$word
      glue=0
    else
      words[count++]=$word
    fi
  done
  tail=\${COMP_WORDS[COMP_CWORD]}
  [[ $tail =~ ^[:=]+$ ]] && tail=''
  cur=\${words[count-1]}
  [[ $cur == --*=* ]] && cur=\${cur#*=}
  prefix=\${cur%"$tail"}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line =~ ^:[0-9]+$ ]]; then
      directive=\${line#:}
    else
      line=\${line%%$'\\t'*}
      [[ $line == "$cur"* ]] && COMPREPLY+=("$(printf %q "\${line#"$prefix"}")")
    fi
  done < <(vitrine complete -- "\${words[@]}" 2>/dev/null)
  ((directive & 2)) && compopt -o nospace 2>/dev/null
  if ! ((directive & 4)); then
    compopt -o filenames 2>/dev/null
    while IFS= read -r name; do
      COMPREPLY+=("$name")
    done < <(compgen -f -- "$tail")
  fi
}

complete -F _vitrine vitrine
`;
