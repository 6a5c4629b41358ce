/**
 * Language models by name: one string says which, for hosted ones, for servers of one's own, and for files.
 *
 * @module
 */

export type { Examination, Finding, ServerFacts, Speed } from './doctor/examination.ts';
export { type ExamineOptions, examine } from './doctor/examine.ts';
export { type ServerFactsOptions, serverFacts } from './doctor/server-facts.ts';
export { type LanguageModelOptions, languageModel, type OpenedModel } from './language-model.ts';
export {
  type FileSpec,
  type HostedSpec,
  type ModelSpec,
  modelSpecForms,
  parseModelSpec,
  type ReplaySpec,
  type ServerName,
  type ServerSpec,
  type TinySpec,
} from './model-spec.ts';
