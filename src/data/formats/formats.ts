/**
 * The row formats of trainers. Each has a form for every kind of row that its trainer supports.
 *
 * @module
 */

export { llamaFactory } from './llama-factory.ts';
export { llamaFactoryShareGpt } from './llama-factory-sharegpt.ts';
export { mathShepherdFiles } from './math-shepherd.ts';
export { openAiFiles } from './openai.ts';
export { prm800kFiles } from './prm800k.ts';
export { stepApoFiles } from './step-apo.ts';
export { stepDpoFiles } from './step-dpo.ts';
export { trl, trlReward } from './trl.ts';
export { type ConversationKind, trlConversational, trlTools } from './trl-conversational.ts';
export { verl } from './verl.ts';
