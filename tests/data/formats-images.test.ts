import { describe, expect, test } from 'vitest';
import type { Message } from '../../src/contracts/language-model.ts';
import { datasetFormats } from '../../src/data/catalogue.ts';
import { openAiFiles, trlConversational } from '../../src/data/formats/formats.ts';
import { pathCompletion } from '../../src/data/path-completion.ts';
import type { TreeRecord } from '../../src/data/record.ts';
import { promptAt, turnOf } from '../../src/data/record.ts';
import { prefixTo } from '../../src/data/sft/prefix.ts';
import { SearchTree } from '../../src/index.ts';
import { preference, says } from './formats-rows.ts';

const cat = { mediaType: 'image/png', base64: 'Y2F0' };
const prompt: readonly Message[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'What is it?', images: [cat] },
];
const row = preference({ prompt, chosen: [says('A cat.')], rejected: [says('A dog.')] });
const url = 'data:image/png;base64,Y2F0';

describe('a row that shows images', () => {
  test('is refused by each form that cannot say them, and by no other', () => {
    const verdicts = datasetFormats.flatMap(({ name, create }) => {
      const form = create({}).forms.preference;
      return form === undefined ? [] : [[name, form.write(row)] as const];
    });
    const takers = verdicts.filter(([, written]) => typeof written !== 'string');
    expect(takers.map(([name]) => name)).toEqual(['openai']);
    expect(verdicts.length).toBeGreaterThan(3);
    for (const [, written] of verdicts) {
      if (typeof written === 'string') expect(written).toContain('shows images');
    }
  });

  test('is a list of parts for OpenAI', () => {
    const written = openAiFiles().forms.preference.write(row);
    if (typeof written === 'string') throw new Error(written);
    const { messages } = JSON.parse(String(written['input'])) as { messages: unknown };
    expect(messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url } },
          { type: 'text', text: 'What is it?' },
        ],
      },
    ]);
  });

  test('is lists of parts in all its columns for TRL, where that is asked for', () => {
    const form = trlConversational({ images: true, provenance: false }).forms.preference;
    const text = (said: string) => [{ type: 'text', image: null, text: said }];
    expect(form.write(row)).toEqual({
      prompt: [
        { role: 'system', content: text('Be brief.') },
        {
          role: 'user',
          content: [{ type: 'image', image: url, text: null }, ...text('What is it?')],
        },
      ],
      chosen: [{ role: 'assistant', content: text('A cat.') }],
      rejected: [{ role: 'assistant', content: text('A dog.') }],
    });
    expect(() => trlConversational({ images: 'yes' as never })).toThrow('images');
  });
});

describe('turns as their provider told them', () => {
  const original = { provider: 'anthropic', data: ['sealed'] };
  const toolCalls = [{ id: 'c', name: 'look', input: {} }];
  const turn: Message = { role: 'assistant', content: '', toolCalls, original };
  const result: Message = { role: 'tool', content: '3', toolCallId: 'c', images: [cat] };
  const tree = new SearchTree<number, string>(0, { environment: 'e', seed: 0 });
  const grow = (parent: Parameters<typeof tree.add>[0]) => {
    const [child] = tree.add(parent, [
      { action: 'look', prior: 1, completion: { text: '', toolCalls, original } },
    ]);
    if (child === undefined) throw new Error('No child.');
    return tree.realise(child, { state: parent.depth + 1 });
  };
  grow(tree.root);
  const [first] = tree.root.children;
  const record: TreeRecord<number, string> = {
    problem: 'p',
    tree,
    notation: {
      prompt: (count) => [
        { role: 'user', content: 'Go.' },
        ...Array.from({ length: count }, () => [turn, result]).flat(),
      ],
      format: (action) => action,
      turn: (_, completion) => ({
        ...{ role: 'assistant', content: '', toolCalls: completion?.toolCalls ?? [] },
        ...(completion?.original && { original: completion.original }),
      }),
    },
  };

  test('stand in rows as they are said and called', () => {
    if (first === undefined || first.kind !== 'realised') throw new Error('No child.');
    const { original: _, ...said } = turn;
    expect(turnOf(record, first)).toEqual(said);
    expect(promptAt(record, first)).toEqual([{ role: 'user', content: 'Go.' }, said, result]);

    grow(first);
    const [second] = first.children;
    if (second === undefined) throw new Error('No child.');
    expect(pathCompletion(record, tree.root, second)).toEqual([said, result, said]);
    expect(prefixTo(record, first)).toMatchObject({ form: 'turns' });
  });
});
