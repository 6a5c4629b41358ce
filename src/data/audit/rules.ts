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
    'The sides differ only in upper and lower case: leave the row out, unless case is what the model should learn.',
  ),
  'boundary-space': warning(
    'Where prompt and completion meet, the prompt ends with a blank, the white space is doubled or differs between the sides, or a word runs across: end the prompt with a line break, or begin both completions with one blank.',
  ),
  contradiction: error(
    'An earlier row has the same two completions swapped, the other label, or another right answer to the same prompt: keep the more certain row.',
  ),
  'control-character': warning(
    'Text holds NUL or ESC, as logs of terminals do, and tokenizers have seen neither: take them out.',
  ),
  'double-escape': warning(
    'Text holds HTML that was escaped twice, such as `&amp;lt;`: unescape it.',
  ),
  'doubled-token': warning(
    'Text begins with two beginning-of-text tokens: remove both, because the tokenizer adds one.',
  ),
  duplicate: warning('The same row is there more than once: keep one.'),
  'empty-answer': warning(
    'The right answer is empty or `null` in some rows, which no completion can earn a reward for: write it, or leave the rows out.',
    { below: 1 },
  ),
  'empty-list': error(
    'An empty list where a conversation or steps should be, on which trainers fail: leave the row out.',
  ),
  'empty-side': error(
    'A side, or a turn of the assistant, is empty or white space only: leave the row out.',
  ),
  'eos-asymmetry': warning(
    'Only one side of the pair ends the answer, so that the end token alone may tell them apart: compare like with like, or train without appending one.',
  ),
  'eos-partly': warning(
    'Only some texts end with the end token, so that a model learns to go on after an answer: end all of them with it, or none where the trainer appends it.',
  ),
  'equal-sides': error(
    'Both sides are the same text, so that nothing is learnt: leave the row out.',
  ),
  'extra-key': warning(
    'A turn has a key that hosted fine-tuning does not know and refuses: leave it out.',
  ),
  'few-rows': warning('Hosted fine-tuning takes no file of fewer than 10 rows: add rows.'),
  'idle-pairs': warning(
    'Most pairs diverge at the last step or have two wrong sides, and so teach little about the steps at which runs are lost: balance pairs over depths (`perDepth`), and require a right chosen side (`requireRight`).',
  ),
  'image-count': error(
    'The images of a row and the places for them in its turns differ in number, on which trainers fail: write one place for each image.',
  ),
  'implicit-prompt': warning(
    'The prompt is a part of both sides, so that trainers count the first words that the answers share as prompt too: write a column `prompt`.',
  ),
  'int-and-float': warning(
    'A column holds whole and decimal numbers: write all with a decimal point, so that every part of the file has one type.',
  ),
  'invalid-arguments': warning(
    'Arguments of a call do not fit the schema of the tool that the row offers: call it as the schema says, or correct the schema.',
  ),
  'invalid-call': error(
    'A call of a tool has no name, or arguments that are no JSON object, on which templates fail: write it again, or leave the row out.',
  ),
  'invalid-role': error(
    'Turns with a role that trainers refuse or out of turn: use known roles, and let user and assistant alternate for LLaMA-Factory.',
  ),
  'invalid-tools': error(
    'The tools of the row are no list of tools with names, as JSON or as JSON text: write them again.',
  ),
  'invalid-utf8': error(
    'Text that is no UTF-8, or half of a character, which loaders refuse or change: write the file as UTF-8.',
  ),
  'invalid-weight': error(
    'Weights of turns must be 0 or 1, and one turn of the assistant in each row must have 1, or nothing is learnt: write them so.',
  ),
  'keys-differ': warning('Rows have different columns: give each row all of them.'),
  'label-balance': warning(
    'Fewer than one label in ten is of one kind: weigh the kinds in the loss, or balance the rows; where one kind is missing, the source may hold right solutions only.',
  ),
  'label-conflict': warning(
    'An earlier row gives the same first steps another label, so that the labels contradict each other: keep the more certain row.',
  ),
  'label-count': error('The numbers of steps and of labels differ: write one label for each step.'),
  'label-type': error(
    'A label is no boolean, and trainers cut 0.9 to 0: write `true` or `false`, ratings as −1, 0 or 1.',
  ),
  leakage: error('The same problem is in two splits: split by problem, never by row.'),
  'leaked-answer': warning(
    'The prompt tells the right answer, so that nothing has to be found: take it out.',
  ),
  'length-bias': warning(
    'One side is longer in most pairs, so that the model may learn length and nothing else: filter by length ratio (`maxLengthRatio`).',
  ),
  'line-too-long': error(
    'A line is longer than 32 MiB, and was not read: write shorter rows, with images as files beside them.',
  ),
  'lost-character': warning(
    'Text holds U+FFFD, which stands for bytes that could not be read: read its source again, in the encoding that it has.',
  ),
  'low-margin': error('The margin is below the one that was asked for: leave the row out.'),
  'missing-column': error('A column that the form needs is missing: write it in each row.'),
  'missing-image': error(
    'An image file is not where the row says, beside others that are there: add it, or leave the row out.',
  ),
  'missing-prompt': error('The prompt is missing or empty: write it in each row.'),
  'misspelt-column': warning(
    'A column is named nearly as one that trainers read and the row lacks: rename it.',
  ),
  'mixed-types': error(
    'A column holds values of different types, which loaders refuse: use one type a column.',
  ),
  mojibake: warning(
    'Text was decoded in the wrong encoding, as `Ã¼` for `ü`: read its source again as UTF-8.',
  ),
  'near-duplicate': warning(
    'A row is nearly the same as one before it, in words and in all numbers: keep one.',
  ),
  'negative-margin': error('The chosen side scores less than the rejected one: swap the sides.'),
  'no-images': warning(
    'None of the image files that rows name exists here: add them, or give the trainer the folder that has them.',
  ),
  'no-rows': warning('A file holds no rows: leave it out.'),
  'no-value': warning(
    'A whole side is the name of a missing value, such as `None` or `nan`: leave the row out, unless it is the answer.',
  ),
  'not-json': error(
    'A line is not JSON, or nested more than 512 deep: write it again; a broken last line means that the file was cut off.',
  ),
  'null-content': error('A text is `null`: write text, or leave the row out.'),
  'number-too-large': error(
    'A number is beyond the range of a double, as `1e400` is, and readers refuse it or take it for infinite: write a smaller one, or leave the row out.',
  ),
  'one-answer': warning(
    'All rows have the same answer, or the same side, and it may be all that is learnt: write answers to what is asked.',
  ),
  'prompt-continues': warning(
    'The prompt ends with a finished turn of the assistant, within which trainers go on: end it with a turn of the user.',
  ),
  'prompt-differs': error(
    'The two sides do not answer the same prompt, byte by byte: write one column `prompt` for both.',
  ),
  'prompt-repeated': warning(
    'The sides repeat the prompt that stands in a column of its own: leave it out of one of the two.',
  ),
  'prompt-too-long': warning(
    'The prompt alone, with its tools, fills the context, and trainers drop such rows silently: raise the limit or shorten it.',
  ),
  refusal: warning(
    'The chosen side refuses what the rejected one does: leave the row out, unless refusing is what is to be learnt.',
    { below: 0.25 },
  ),
  'repeated-key': error(
    'A row has the same key twice, which `datasets` refuses, and of which other readers take the last: write it once.',
  ),
  repetition: warning(
    'A text ends in the same words over and over, as of a model that was cut off in a loop: leave the row out.',
  ),
  'row-too-long': warning(
    'Prompt and answer together are longer than the trainer takes, and it cuts off the end, where the answer stands: raise the limit, or leave the row out.',
  ),
  'separator-in-step': error(
    'A step holds the separator that ends steps: choose another separator, or replace it in the text.',
  ),
  'shared-prompt': warning(
    'A prompt is in two splits, under different problems that come to the same state: leave such rows out of the test split where it should hold unseen prompts only.',
  ),
  'template-token': warning(
    'A turn holds tokens of a chat template, which the trainer puts around it once more: leave them out.',
    { from: 0.05 },
  ),
  'text-conversation': error(
    'A conversation stands there as JSON or Python in a text, which trainers learn as it is written: write it as a list of turns.',
  ),
  'tool-schema': warning(
    'A tool has the name of another one, or parameters that are no JSON schema of an object: write it again.',
  ),
  'tools-missing': warning(
    'Turns call tools, and the row offers none: write a column `tools`, which templates need.',
  ),
  'turn-order': warning(
    'Turns stand in an order that chat templates refuse, such as a system turn that is not the first: begin with system or user, and let user and assistant alternate.',
  ),
  'unanswered-call': warning(
    'A call of a tool has no result before the conversation goes on: write its result behind it.',
  ),
  'unclosed-thought': warning(
    'An answer opens `<think>` and does not close it, as if it were cut off: leave the row out.',
  ),
  'undeclared-tool': error(
    'The prompt or the chosen side calls a tool that the row does not offer: offer it in `tools`, or leave the row out.',
  ),
  'unfilled-placeholder': warning(
    'Prompts hold the name of what a template should have filled in, such as `{question}`: fill it in.',
    { from: 0.05 },
  ),
  'unknown-format': error(
    'The columns are of no known form: rename them to those of the trainer, such as `prompt`, `chosen`, `rejected`.',
  ),
  'unmatched-result': error(
    'A result of a tool answers no call before it, on which templates and hosted services fail: write the call, or give both the same id.',
  ),
  'unreadable-file': error('A file cannot be read: write it again.'),
  'unsupported-file': warning(
    'A file beside the others is of a kind that is not read, and was passed over: write it as JSON lines or as Parquet.',
  ),
  'wrong-type': error('A column holds neither text nor turns: write one of the two.'),
  'zero-margin': warning(
    'All margins are 0, so that none of the pairs says which side is better: write the margins, or leave the column out.',
  ),
};
