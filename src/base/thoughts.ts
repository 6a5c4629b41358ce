/**
 * Opening and closing marks of thoughts: `<think>`, `<thinking>` and `<thought>`, and the marks of Magistral, Kimi and
 * Sky-T1.
 */
const thoughtMark =
  /<(?<close>\/?)(?:think|thinking|thoughts?)>|(?<open>\[THINK\]|◁think▷|<\|begin_of_thought\|>)|\[\/THINK\]|◁\/think▷|<\|end_of_thought\|>/gi;

/** The beginning of the final channel of gpt-oss, even if a server has left out the special tokens. */
const finalChannel = /<\|channel\|>\s{0,3}final\b.{0,80}?<\|message\|>|(?<=\S)assistantfinal/g;
const otherChannel = /<\|channel\|>\s{0,3}(?:analysis|commentary)\b|^\s{0,3}analysis(?=\p{Lu})/u;
const channelEnd = /<\|(?:end|return|call|start|channel)\|>/;

/**
 * A model's text without its thoughts. A closing mark ends thoughts even without an opening one, because chat templates
 * put that into the prompt; thoughts that never end leave nothing.
 */
export function withoutThoughts(text: string): string {
  const answer = inFinalChannel(text);
  let said = '';
  let from: number | undefined = 0;
  for (const { 0: mark, index, groups } of answer.matchAll(thoughtMark)) {
    if (groups?.['open'] !== undefined || groups?.['close'] === '') {
      if (from !== undefined) said += answer.slice(from, index);
      from = undefined;
    } else {
      if (from !== undefined) said = '';
      from = index + mark.length;
    }
  }
  return from === undefined ? said : said + answer.slice(from);
}

function inFinalChannel(text: string): string {
  if (!otherChannel.test(text) && !text.includes('<|channel|>')) return text;
  const last = [...text.matchAll(finalChannel)].at(-1);
  if (last === undefined) return otherChannel.test(text) ? '' : text;
  return text.slice(last.index + last[0].length).split(channelEnd, 1)[0] ?? '';
}
