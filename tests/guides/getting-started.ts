// The parts that the guide leaves to its reader.
import type { LanguageModel, Message, Usage } from 'espalier';
import { scriptedModel } from 'espalier/testing';

const moves = ['add 1', 'double', 'triple'] as const;

export const model: LanguageModel = scriptedModel({
  answer: (_, index) => moves[index % 3] ?? 'add 1',
  modelId: 'my-model',
});

export function ask(state: number): readonly Message[] {
  return [{ role: 'user', content: `The number is ${state}. What next?` }];
}

export function read(text: string): (typeof moves)[number] | undefined {
  return moves.find((move) => move === text);
}

export interface Translation {
  readonly texts: readonly string[];
  readonly usage: Usage;
}

export const service = {
  translate: (text: string, _options: object): Promise<Translation> =>
    Promise.resolve({ texts: [text], usage: { inputTokens: 1, outputTokens: 1 } }),
};
