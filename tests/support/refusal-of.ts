/** What a call throws or rejects with; `undefined` where it does neither. */
export async function refusalOf(make: () => unknown): Promise<unknown> {
  try {
    await make();
  } catch (error) {
    return error;
  }
  return undefined;
}
