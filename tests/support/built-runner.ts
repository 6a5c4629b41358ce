/** The parts of our own runner as they were built, with the types of their sources. */
const load = <Module>(file: string): Promise<Module> =>
  import(new URL(`../../dist/backends/${file}.js`, import.meta.url).href);

type Gguf = typeof import('../../src/backends/tiny/gguf.ts');
type DecoderModule = typeof import('../../src/backends/tiny/decoder.ts');
type TokenizerModule = typeof import('../../src/backends/tiny/tokenizer.ts');
type ChatModule = typeof import('../../src/backends/in-process/chat.ts');

const gguf: Gguf = await load('tiny/gguf');
const decoder: DecoderModule = await load('tiny/decoder');
const tokenizer: TokenizerModule = await load('tiny/tokenizer');
const chat: ChatModule = await load('in-process/chat');

export const readLlamaFile: Gguf['readLlamaFile'] = gguf.readLlamaFile;
export const Decoder: DecoderModule['Decoder'] = decoder.Decoder;
export const tokenizerOf: TokenizerModule['tokenizerOf'] = tokenizer.tokenizerOf;
export const chatOf: ChatModule['chatOf'] = chat.chatOf;
