// The parts that the guide leaves to its reader.
import type { RewardModel } from 'espalier';
import { rewardFrom } from 'espalier/backends';

export const rewardModel: RewardModel = rewardFrom({ name: 'half', score: () => [0.5] });
export const passes = (state: unknown): boolean => JSON.stringify(state).includes('25');
