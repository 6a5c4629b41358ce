/** The sentences with which a model notices that it went wrong, before it continues another way. */
export const revisionThoughts: readonly string[] = [
  'That last step was a mistake. I go back to where things were still right and take another way.',
  'Looking at this again, I went wrong just now. I drop it and try something else instead.',
  'This does not lead where I want to go. I return to the last sound point and start again from there.',
  'Something is off: what I just did works against the goal. Let me undo it and think of a better step.',
  'I should not have done that. Back to before the error, and on with a different plan.',
  'Checking my work so far, I find a wrong turn. I set it aside and go on from where it was still fine.',
  'No, that cannot be right. I take it back and choose a different step.',
  'I see now that this path fails. The earlier part still holds, so I continue from there in another way.',
];
