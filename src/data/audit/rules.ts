import type { AuditCode, AuditFinding } from './report.ts';

/** The severity of a finding, with the fault and the remedy in one sentence. */
interface AuditRule extends Pick<AuditFinding, 'message' | 'severity'> {
  /**
   * Faults that rows may have now and then are reported only from this share of a configuration's rows. @defaultValue 0
   */
  readonly from?: number;
  /** Faults that all rows may have are reported only below this share. @defaultValue any share */
  readonly below?: number;
}

const error = (message: string): AuditRule => ({ severity: 'error', message });
const warning = (message: string, shares: Pick<AuditRule, 'below' | 'from'> = {}): AuditRule => ({
  severity: 'warning',
  message,
  ...shares,
});

/** All that an audit can find. */
export const auditRules: Readonly<Record<AuditCode, AuditRule>> = {
  'alike-sides': warning(
    'The two sides differ only in letter case: leave the row out, unless case is what the model should learn.',
  ),
  'boundary-space': warning(
    'Prompt and completion join badly (a trailing space in the prompt, white space that is doubled or differs between the sides, or two words run together): end the prompt with a line break, or start both completions with one space.',
  ),
  contradiction: error(
    'A row contradicts an earlier one with the same prompt (the same two completions swapped, the other label, or another right answer): keep the more certain row.',
  ),
  'control-character': warning(
    'Text contains NUL or ESC, as terminal logs do, which tokenizers do not expect: remove them.',
  ),
  'double-escape': warning(
    'Text contains HTML that was escaped twice, such as `&amp;lt;`: unescape it.',
  ),
  'doubled-token': warning(
    'Text begins with two beginning-of-text tokens: remove both, because the tokenizer adds one.',
  ),
  duplicate: warning('The same row occurs more than once: keep one.'),
  'empty-answer': warning(
    'The right answer is empty or `null` in some rows, so no completion can earn a reward: fill it in, or leave the rows out.',
    { below: 1 },
  ),
  'empty-list': error(
    'A conversation or a list of steps is empty, which makes trainers fail: leave the row out.',
  ),
  'empty-side': error(
    'A side, or an assistant turn, is empty or only white space: leave the row out.',
  ),
  'eos-asymmetry': warning(
    'Only one side of the pair is a finished answer, so the end token alone may tell them apart: compare sides that both end or both continue, or train without appending an end token.',
  ),
  'eos-partly': warning(
    'Only some texts end with the end token, so the model may learn to go on after an answer: end all of them with it, or none if the trainer appends it.',
  ),
  'equal-sides': error(
    'Both sides are the same text, so there is nothing to learn: leave the row out.',
  ),
  'extra-key': warning('A turn has a key that hosted fine-tuning rejects: remove it.'),
  'few-rows': warning('Hosted fine-tuning rejects files with fewer than 10 rows: add rows.'),
  'idle-pairs': warning(
    'Most pairs diverge at the last step or have two wrong sides, so they teach little about the steps where attempts go wrong: balance pairs over depths (`perDepth`), and require a right chosen side (`requireRight`).',
  ),
  'image-count': error(
    'The number of images in a row differs from the number of their placeholders in its turns, which makes trainers fail: write one placeholder per image.',
  ),
  'implicit-prompt': warning(
    'The prompt is part of both sides, so trainers also count the first words that the answers share as prompt: write a column `prompt`.',
  ),
  'int-and-float': warning(
    'A column mixes whole and decimal numbers: write all of them with a decimal point, so that every part of the file has the same type.',
  ),
  'invalid-arguments': warning(
    'The arguments of a tool call do not fit the schema of the tool in the row: correct the call or the schema.',
  ),
  'invalid-call': error(
    'A tool call has no name, or its arguments are not a JSON object, which makes templates fail: correct it, or leave the row out.',
  ),
  'invalid-role': error(
    'A turn has a role that trainers reject, or is out of order: use known roles, and let user and assistant alternate for LLaMA-Factory.',
  ),
  'invalid-tools': error(
    'The tools of a row are not a list of named tools, as JSON or as JSON text: correct them.',
  ),
  'invalid-utf8': error(
    'Text is not valid UTF-8, or contains half of a character, which loaders reject or change: write the file as UTF-8.',
  ),
  'invalid-weight': error(
    'A turn has a weight other than 0 or 1, or no assistant turn of the row has 1, so that nothing is learnt: correct the weights.',
  ),
  'keys-differ': warning('Rows have different columns: give every row all of them.'),
  'label-balance': warning(
    'Fewer than one label in ten is of one kind: weight the kinds in the loss, or balance the rows; if one kind is missing, the source may contain only right solutions.',
  ),
  'label-conflict': warning(
    'An earlier row has the same first steps with another label, so the labels contradict each other: keep the more certain row.',
  ),
  'label-count': error(
    'The number of labels differs from the number of steps: write one label for each step.',
  ),
  'label-type': error(
    'A label is not a boolean, and trainers truncate 0.9 to 0: write `true` or `false`, and ratings as −1, 0 or 1.',
  ),
  leakage: error('The same problem is in two splits: split by problem, never by row.'),
  'leaked-answer': warning(
    'The prompt contains the right answer, so there is nothing to find: remove it.',
  ),
  'length-bias': warning(
    'One side is longer in most pairs, so the model may learn only to prefer a length: filter by length ratio (`maxLengthRatio`).',
  ),
  'line-too-long': error(
    'A line is longer than 32 MiB and was not read: write shorter rows, and keep images in files of their own.',
  ),
  'lost-character': warning(
    'Text contains U+FFFD, which stands for bytes that could not be decoded: read the source again in its own encoding.',
  ),
  'low-margin': error('The margin is below the requested minimum: leave the row out.'),
  'missing-column': error('A column that the format needs is missing: add it to every row.'),
  'missing-image': error(
    'An image file is missing, while others are there: add it, or leave the row out.',
  ),
  'missing-prompt': error('The prompt is missing or empty: add it to the row.'),
  'misspelt-column': warning(
    'A column has nearly the name of one that trainers read and the row lacks: rename it.',
  ),
  'mixed-types': error(
    'A column contains values of different types, which loaders reject: use one type per column.',
  ),
  mojibake: warning(
    'Text was decoded in the wrong encoding, such as `Ã¼` for `ü`: read the source again as UTF-8.',
  ),
  'near-duplicate': warning(
    'A row has nearly the words, and all the numbers, of an earlier one: keep one.',
  ),
  'negative-margin': error('The chosen side scores less than the rejected one: swap the sides.'),
  'no-images': warning(
    'None of the image files that the rows name exist here: add them, or tell the trainer their folder.',
  ),
  'no-rows': warning('A file has no rows: remove it.'),
  'no-value': warning(
    'A whole side is the name of a missing value, such as `None` or `nan`: leave the row out, unless it is the answer.',
  ),
  'not-json': error(
    'A line is not JSON, or is nested more than 512 levels deep: correct it; if it is the last line, the file was probably cut off.',
  ),
  'null-content': error('A text is `null`: write a text, or leave the row out.'),
  'number-too-large': error(
    'A number is beyond the range of a double, such as `1e400`, which readers reject or read as infinity: write a smaller one, or leave the row out.',
  ),
  'one-answer': warning(
    'All rows have the same answer, or the same text on one side, and the model may learn nothing else: write answers that depend on the prompt.',
  ),
  'prompt-continues': warning(
    'The prompt ends with a finished assistant turn, which trainers continue: end it with a user turn.',
  ),
  'prompt-differs': error(
    'The two sides do not answer the same prompt, byte for byte: write one column `prompt` for both.',
  ),
  'prompt-repeated': warning(
    'The sides repeat the prompt, which also has a column of its own: remove it from one of the two.',
  ),
  'prompt-too-long': warning(
    'The prompt alone, with its tools, fills the context, and trainers drop such rows silently: raise the limit, or shorten the prompt.',
  ),
  refusal: warning(
    'The chosen side refuses what the rejected side does: leave the row out, unless the model should learn to refuse.',
    { below: 0.25 },
  ),
  'repeated-key': error(
    'A row has the same key twice: `datasets` rejects it, and other readers take the last one; write it once.',
  ),
  repetition: warning(
    'A text ends with the same words over and over, as if a model was cut off in a loop: leave the row out.',
  ),
  'row-too-long': warning(
    'Prompt and answer together are longer than the limit of the trainer, which cuts off the end of the answer: raise the limit, or leave the row out.',
  ),
  'separator-in-step': error(
    'A step contains the separator that ends steps: choose another separator, or replace it in the text.',
  ),
  'shared-prompt': warning(
    'A prompt occurs in two splits, under different problems that lead to the same state: leave such rows out of the test split if it should contain only unseen prompts.',
  ),
  'template-token': warning(
    'A turn contains tokens of a chat template, which the trainer adds again: remove them.',
    { from: 0.05 },
  ),
  'text-conversation': error(
    'A conversation is stored as a text of JSON or Python, which trainers learn literally: write it as a list of turns.',
  ),
  'tool-schema': warning(
    'A tool has the name of another one, or its parameters are not a JSON schema of an object: correct it.',
  ),
  'tools-missing': warning(
    'Turns call tools, but the row offers none: add a column `tools`, which templates need.',
  ),
  'turn-order': warning(
    'Turns are in an order that chat templates reject, such as a system turn that is not the first: begin with system or user, and let user and assistant alternate.',
  ),
  'unanswered-call': warning(
    'A tool call has no result before the conversation goes on: add its result after it.',
  ),
  'unclosed-thought': warning(
    'An answer opens `<think>` and does not close it, as if it was cut off: leave the row out.',
  ),
  'undeclared-tool': error(
    'The prompt or the chosen side calls a tool that the row does not offer: add it to `tools`, or leave the row out.',
  ),
  'unfilled-placeholder': warning(
    'Prompts contain a placeholder that a template should have filled in, such as `{question}`: fill it in.',
    { from: 0.05 },
  ),
  'unknown-format': error(
    'The columns match no known format: rename them to those of the trainer, such as `prompt`, `chosen`, `rejected`.',
  ),
  'unmatched-result': error(
    'A tool result answers no earlier call, which makes templates and hosted services fail: add the call, or give both the same id.',
  ),
  'unreadable-file': error('A file cannot be read: write it again.'),
  'unsupported-file': warning(
    'A file is of a kind that is not read, and was skipped: write it as JSON lines or as Parquet.',
  ),
  'wrong-type': error('A column contains neither text nor turns: write one of the two.'),
  'zero-margin': warning(
    'All margins are 0, so no pair says which side is better: write the margins, or remove the column.',
  ),
};
