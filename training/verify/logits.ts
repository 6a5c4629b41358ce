// Writes the logits of our own runner at each position of some conversations, for `logits.py --compare`.
// `make -C training verify` runs it on the built package.
import { writeFileSync } from 'node:fs';
import { chatOf } from '../../src/backends/in-process/chat.ts';
import { Decoder } from '../../src/backends/tiny/decoder.ts';
import { readLlamaFile } from '../../src/backends/tiny/gguf.ts';
import { tokenizerOf } from '../../src/backends/tiny/tokenizer.ts';
import { conversations } from '../../tests/verify/sample-texts.ts';

const [model = '', out = ''] = process.argv.slice(2);
const file = await readLlamaFile(model);
const tokenizer = tokenizerOf(file.vocabulary);
const chat = chatOf({ tokenizer, template: file.vocabulary.chatTemplate, model });
const decoder = new Decoder(file);

const lines = conversations(8).map((messages) => {
  const tokens = chat(messages);
  let { root: prefix } = decoder;
  const logits = tokens.map((token) => {
    const [decoded] = decoder.decode([{ prefix, tokens: [token], wantLogits: true }]);
    if (decoded?.logits === undefined) throw new Error('The decoder gave no logits.');
    ({ prefix } = decoded);
    return Array.from(decoded.logits);
  });
  return JSON.stringify({ tokens, logits });
});
writeFileSync(out, `${lines.join('\n')}\n`);
