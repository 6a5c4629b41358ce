import { Command } from 'commander';
import type { Examination, ServerFacts } from '../backends/doctor/examination.ts';
import { examine } from '../backends/doctor/examine.ts';
import { languageModel } from '../backends/language-model.ts';
import { type ModelName, modelOption } from './model.ts';
import { print, StatusLine } from './output.ts';
import { table } from './table.ts';

/** What `espalier doctor` was asked for. */
export interface DoctorRequest {
  readonly model: ModelName;
  readonly json?: boolean;
}

/** The command without its action. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description('Probe a model: whether it answers, what it honours, how quickly it is.')
    .requiredOption('--model <spec>', 'a model spec, such as ollama:qwen3', modelOption)
    .option('--json', 'print what was found as one JSON document')
    .addHelpText(
      'after',
      [
        '',
        'It sends some thirty short requests, which are paid for where the model is.',
        '',
        'Example: espalier doctor --model vllm:http://localhost:8000/v1',
      ].join('\n'),
    );
}

/** Runs `espalier doctor`. Resolves to the exit code: 1 where the model does not answer. */
export async function runDoctorCommand({ model: spec, json }: DoctorRequest): Promise<number> {
  await using model = await languageModel(spec, { retry: false });
  const status = new StatusLine();
  try {
    status.show(() => 'Asking whether it answers …');
    const examination = await examine(model, {
      onFinding: ({ about }) => status.show(() => `Probed: ${about}`),
    });
    status.clear();
    print(json === true ? JSON.stringify(examination, undefined, 2) : describe(examination));
    return examination.reachable ? 0 : 1;
  } finally {
    status.clear();
  }
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
    table(speeds),
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
