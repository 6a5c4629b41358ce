// The parts that the guide leaves to its reader.
import { describe, test } from 'node:test';
import {
  type Evaluator,
  type LanguageModel,
  mcts,
  type Policy,
  type SearchAlgorithm,
} from 'espalier';
import { tiny } from 'espalier/backends/tiny';
import { gameOf24 } from 'espalier/environments';
import { uniform } from 'espalier/policies';
import type { TestRunner } from 'espalier/testing';
import { heuristic } from 'espalier/values';

export const runner: TestRunner = { describe, test };

type Game = ReturnType<typeof gameOf24.environment>;

export const environment: Game = gameOf24.environment(gameOf24.parse('4 9 10 13'));
export const actions: Game['actions'] = environment.actions;
export const policy: Policy = uniform(actions);
export const problem: { environment: Game; policy: Policy } = { environment, policy };
export const model: LanguageModel = tiny();

export const myEnvironment = (): Game => environment;
export const myModel = (): LanguageModel => model;
export const myPolicy = (): Policy => policy;
export const mySearch = (): SearchAlgorithm => mcts();
export const myValue = (): Evaluator => heuristic(() => 0.5);
export const mine = (): SearchAlgorithm => mcts();
