import type { FormatFamily } from './format.ts';
import { llamaFactory } from './llama-factory.ts';
import { llamaFactoryShareGpt } from './llama-factory-sharegpt.ts';
import { mathShepherd } from './math-shepherd.ts';
import { openAiFiles } from './openai.ts';
import { prm800k } from './prm800k.ts';
import { stepApoFiles, stepDpoFiles } from './step-dpo.ts';
import { trl, trlReward } from './trl.ts';
import { trlConversational, trlTools } from './trl-conversational.ts';
import { verl } from './verl.ts';

/** All forms that come with the package, by name. */
export const formatFamilies: readonly FormatFamily[] = [
  llamaFactory,
  llamaFactoryShareGpt,
  mathShepherd,
  openAiFiles,
  prm800k,
  stepApoFiles,
  stepDpoFiles,
  trl,
  trlConversational,
  trlReward,
  trlTools,
  verl,
].toSorted((a, b) => (a.name < b.name ? -1 : 1));
