/**
 * Language models by name: one string says which, for hosted ones, for servers of one's own, and for files.
 *
 * @module
 */

export { languageModel, type OpenedModel } from './language-model.ts';
