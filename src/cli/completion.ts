import { Argument, Command, type Option } from 'commander';
import { expectOneOf } from '../base/expect.ts';
import { print } from './output.ts';
import { type WordParser, withWords } from './values.ts';

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/** The command. `makeProgram` makes the program with all its commands, which is what the script is made of. */
export function completionCommand(makeProgram: () => Promise<Command>): Command {
  const shell = new Argument('<shell>', shells.join(', ')).argParser(
    withWords((text: string) => {
      expectOneOf('shell', text, shells);
      return text;
    }, shells),
  );
  return new Command('completion')
    .description('Print a script that lets a shell complete commands, options and values.')
    .addArgument(shell)
    .addHelpText(
      'after',
      [
        '',
        'Example: espalier completion bash',
        '',
        'bash: eval "$(espalier completion bash)" in ~/.bashrc',
        'zsh: eval "$(espalier completion zsh)" in ~/.zshrc, after compinit',
        'fish: espalier completion fish > ~/.config/fish/completions/espalier.fish',
      ].join('\n'),
    )
    .action(async (name: Shell) => print(scripts[name](await makeProgram())));
}

/** The words that an option takes; `undefined` where it takes a text of any kind, or nothing. */
function wordsOf({ parseArg }: Option): readonly string[] | undefined {
  return (parseArg as Partial<WordParser<unknown>> | undefined)?.words;
}

function bash({ commands }: Command): string {
  const cases = commands.flatMap((command) =>
    command.options.flatMap((option) => {
      const words = wordsOf(option)?.join(' ');
      return words === undefined
        ? []
        : [`    '${command.name()} ${option.long}') words='${words}' ;;`];
    }),
  );
  const options = commands.map((command) => {
    const longs = command.options.map(({ long }) => long);
    return `    ${command.name()}) [[ $cur == -* ]] && words='${longs.join(' ')} --help' ;;`;
  });
  return `_espalier() {
  local cur=\${COMP_WORDS[COMP_CWORD]} words='' before=''
  case $COMP_CWORD in 1) words='${commands.map((command) => command.name()).join(' ')}' ;; *)
  case "\${COMP_WORDS[1]} \${COMP_WORDS[COMP_CWORD-1]}" in
    'completion completion') words='${shells.join(' ')}' ;;
${cases.join('\n')}
    *) case \${COMP_WORDS[1]} in
${options.join('\n')}
    esac ;;
  esac ;; esac
  [[ $cur == *,* ]] && before=\${cur%,*},
  COMPREPLY=($(compgen -P "$before" -W "$words" -- "\${cur##*,}"))
}
complete -o default -F _espalier espalier`;
}

function fish({ commands }: Command): string {
  const quoted = (text: string) => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
  return commands
    .flatMap((command) => [
      `complete -c espalier -f -n __fish_use_subcommand -a ${command.name()} -d ${quoted(command.description())}`,
      ...command.options.map((option) => {
        const words = wordsOf(option);
        const list = words?.join(' ') ?? '';
        const isList = option.flags.includes('<names>');
        const offer = isList ? `(__fish_complete_list , "string split ' ' '${list}'")` : list;
        const value = words === undefined ? '-r' : `-x -a ${quoted(offer)}`;
        const takes = option.required || option.optional ? ` ${value}` : '';
        const where = `-n '__fish_seen_subcommand_from ${command.name()}'`;
        return `complete -c espalier ${where} -l ${option.name()}${takes} -d ${quoted(option.description)}`;
      }),
    ])
    .concat(
      `complete -c espalier -f -n '__fish_seen_subcommand_from completion' -a '${shells.join(' ')}'`,
    )
    .join('\n');
}

const scripts: Readonly<Record<Shell, (program: Command) => string>> = {
  bash,
  fish,
  zsh: (program) => `autoload -Uz bashcompinit && bashcompinit\n${bash(program)}`,
};
