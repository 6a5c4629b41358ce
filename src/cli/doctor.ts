import { Command } from 'commander';
import type { Examination, ServerFacts } from '../backends/doctor/examination.ts';
import { examine } from '../backends/doctor/examine.ts';
import { defined } from '../backends/transport/json.ts';
import { counted } from '../base/counted.ts';
import { table } from '../base/table.ts';
import { examineJudge, type JudgeExamination } from '../runs/examine-judge.ts';
import { readLabelledStates } from '../runs/labelled-states.ts';
import {
  addKeyVariableOption,
  type ModelName,
  type ModelRequest,
  modelOption,
  modelWithEffort,
} from './model.ts';
import { oneLine, print } from './output.ts';
import { withStatus } from './progress.ts';
import { integerOption } from './values.ts';

/** What `espalier doctor` was asked for. */
export interface DoctorRequest extends ModelRequest {
  readonly model: ModelName;
  readonly json?: boolean;
  readonly judge?: string;
  readonly effort?: string;
  readonly repeats: number;
}

/** The command without its action. */
export function doctorCommand(): Command {
  const command = new Command('doctor')
    .description('Probe a model: whether it answers, what it supports, how fast it is.')
    .requiredOption(
      '--model <spec>',
      'a model spec, such as ollama:qwen3 or groq:MODEL',
      modelOption,
    );
  return addKeyVariableOption(command)
    .option('--judge <file>', 'measure it as a judge instead, on the states in a JSON lines file')
    .option(
      '--effort <level>',
      'how hard the model thinks, such as low; levels depend on the provider',
    )
    .option('--repeats <n>', 'judgements of each state', integerOption('repeats'), 3)
    .option('--json', 'print the findings as one JSON document')
    .addHelpText(
      'after',
      [
        '',
        'It sends about thirty short requests, which cost money if the model does, and',
        'takes at most a minute.',
        '',
        'Each line of the --judge file is a state as shown to the model, and whether the',
        'goal can be reached from it: {"state": "…", "good": true}; "problem": "…"',
        'groups the states of one problem. It prints the AUC, the noise between',
        'judgements of one state, and the widest search that such a judge supports.',
        '',
        'Example: espalier doctor --model vllm:http://localhost:8000/v1',
      ].join('\n'),
    );
}

/** Runs `espalier doctor`. Resolves to the exit code: 1 where the model does not answer. */
export async function runDoctorCommand(request: DoctorRequest): Promise<number> {
  const { model: spec, keyVariable, effort, json, judge: file } = request;
  if (file !== undefined) return measureJudge(file, request);
  await using model = await modelWithEffort(spec, {
    // A busy server is asked again; what else fails is a finding.
    retry: { attempts: 3, totalMs: 10_000, breaker: false },
    ...defined({ keyVariable, effort }),
  });
  const examination = await withStatus((status) => {
    status.show(() => 'Asking whether it answers …');
    return examine(model, {
      onFinding: ({ about }, { done, total }) =>
        status.show(() => `Probed ${done} of ${total}: ${about}`),
    });
  });
  print(json === true ? JSON.stringify(examination, undefined, 2) : describe(examination));
  return examination.reachable ? 0 : 1;
}

async function measureJudge(
  file: string,
  { model: spec, keyVariable, effort, json, repeats }: DoctorRequest,
): Promise<number> {
  const states = readLabelledStates(file);
  await using model = await modelWithEffort(spec, defined({ keyVariable, effort }));
  const found = await withStatus((status) =>
    examineJudge(model, states, {
      repeats,
      onJudged: (done) =>
        status.show(() => `Judged: ${done} of ${counted(states.length, 'state')}`),
    }),
  );
  print(json === true ? JSON.stringify(found, undefined, 2) : describeJudge(found));
  return found.judge === undefined ? 1 : 0;
}

/** A judge for people. */
function describeJudge({ model, judge, failure = '', spend }: JudgeExamination): string {
  const cost = `It took ${counted(spend.calls, 'call')} and ${counted(spend.tokens, 'token')}.`;
  if (judge === undefined)
    return `Model: ${model}\n\nIt could not be measured. ${oneLine(failure)}\n${cost}`;
  const { states, good, failed, noise, low: least, width, sentence } = judge;
  const [estimate, low, high] = [width.estimate, width.low, width.high].map(shownWidth);
  const advice =
    least > 0.5
      ? [
          `It can choose between about ${estimate} siblings (${low} to ${high}): among more, the one that looks best is more`,
          'likely lucky than good. That is an estimate of ours, exp(Φ⁻¹(AUC)²). Keep `width` and `samples` at or below it.',
        ]
      : [
          'How many siblings it can choose between cannot be told from so few states, or from such judgements: label more.',
        ];
  return [
    `Model: ${model}`,
    '',
    `${counted(states, 'state')}, ${good} of them good. ${sentence}`,
    ...(failed === 0
      ? []
      : [`${counted(failed, 'state')} could not be judged. ${oneLine(failure)}`]),
    ...(noise === undefined
      ? []
      : [`Judgements of one state differ by ${noise.toFixed(3)}, as a standard deviation.`]),
    '',
    ...advice,
    cost,
  ].join('\n');
}

function shownWidth(width: number): string {
  return width < 1000 ? width.toFixed(width < 10 ? 1 : 0) : '1000 or more';
}

/** An examination for people. */
function describe(examination: Examination): string {
  const { model, reachable, failure, server, findings, speed, warnings, advice } = examination;
  const about = [`Model: ${model}`, ...(server === undefined ? [] : describeServer(server))];
  if (!reachable) return [...about, '', `It does not answer. ${failure}`].join('\n');
  const rows = findings.map(({ about: what, outcome, detail }) => [what, outcome, detail]);
  const speeds = speed.map(({ concurrency, latencyMs, tokensPerSecond }) => [
    `${concurrency} at once`,
    `${Math.round(latencyMs)} ms`,
    tokensPerSecond === undefined ? 'tokens not told' : `${Math.round(tokensPerSecond)} tokens/s`,
  ]);
  return [
    ...about,
    '',
    table(rows, { isLeft: true }),
    '',
    ...(speeds.length === 0 ? ['No time was left to see how quick it is.'] : [table(speeds)]),
    ...(warnings.length === 0 ? [] : ['', ...warnings]),
    '',
    'What espalier does with it:',
    ...advice.map((line) => `- ${line}`),
  ].join('\n');
}

function describeServer(server: ServerFacts): readonly string[] {
  const { kind, models, contextLength, scoring } = server;
  const shown = models.slice(0, 8).join(', ');
  const more = models.length > 8 ? ` and ${models.length - 8} more` : '';
  return [
    `Server: ${kind}${contextLength === undefined ? '' : `, context of ${contextLength} tokens`}`,
    ...(models.length === 0 ? [] : [`Models: ${shown}${more}`]),
    ...(scoring.length === 0 ? [] : [`Scores text at: ${scoring.join(', ')}`]),
  ];
}
