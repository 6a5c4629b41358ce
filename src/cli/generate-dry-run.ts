import { existsSync } from 'node:fs';
import { counted } from '../base/counted.ts';
import { highestPrice } from '../bench/estimate.ts';
import { amount, dollars } from '../bench/figures.ts';
import type { ModelPrice } from '../contracts/language-model.ts';
import type { Budget } from '../contracts/spend.ts';
import type { GenerateArguments } from './generate-options.ts';
import { print } from './output.ts';

/** A line on what a run folder holds, if it is there. */
export function heldAlready(run: string): readonly string[] {
  return existsSync(run)
    ? [`What ${run} holds already is part of that, and is not paid for again.`]
    : [];
}

/** Says what `espalier generate` would do, and how much it would spend at most. */
export function sayPlanned(
  request: GenerateArguments,
  {
    line,
    problems,
    method,
    budget,
    price,
    run,
  }: {
    readonly line: string;
    readonly problems: number;
    readonly method: string;
    /** The budget of each search. */
    readonly budget: Budget;
    readonly price: ModelPrice | undefined;
    /** The run folder. */
    readonly run: string;
  },
): void {
  const { attempts, budgetCalls, budgetTokens, budgetUsd, json = false, out } = request;
  const searches = problems * attempts;
  const atMost = (each: number | undefined, all: number | undefined): number | undefined => {
    const most = Math.min(searches * (each ?? Number.POSITIVE_INFINITY), all ?? Infinity);
    return Number.isFinite(most) ? most : undefined;
  };
  const calls = atMost(budget.calls, budgetCalls);
  const tokens = atMost(budget.tokens, budgetTokens);
  const perToken = highestPrice(price, tokens ?? 1) ?? Number.POSITIVE_INFINITY;
  // Any number of free tokens is free.
  const bound = perToken === 0 ? 0 : perToken * (tokens ?? Number.POSITIVE_INFINITY);
  const usd = atMost(undefined, Math.min(bound, budgetUsd ?? Number.POSITIVE_INFINITY));
  const all = { calls, tokens, usd };
  if (json) {
    print(
      JSON.stringify({ problems, attempts, searches, method, budget, most: all }, undefined, 2),
    );
    return;
  }
  const told = (value: number | undefined, unit: string) =>
    value === undefined ? `any number of ${unit}` : `${amount(value)} ${unit}`;
  const limits = Object.entries(budget).map(([unit, limit]) => `${amount(limit)} ${unit}`);
  print(
    [
      line,
      '',
      `${counted(problems, 'problem')}, ${counted(attempts, 'tree')} each, by ${method}: ${counted(searches, 'search', amount(searches))} of at most ${limits.join(', ')} each.`,
      `All together at most ${told(calls, 'calls')}, ${told(tokens, 'tokens')} and ${usd === 0 ? 'no dollars' : usd === undefined ? 'any number of dollars' : dollars(usd)}.`,
      ...heldAlready(run),
      `The dataset would be written to ${out}. Nothing was sent or written.`,
    ].join('\n'),
  );
}
