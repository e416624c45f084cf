/** Limits of the contract, as fields show them. A test compares them with the contract. */

export const LIMITS = {
  name: 100,
  system_prompt: 4000,
  max_tokens: 4096,
  temperature: 2,
  retention_days: 3650,
  message: 4000,
  text: 100_000,
  url: 2048,
  pairs: 500,
  question: 2000,
  comment: 1000,
  description: 500,
  search: 200,
};
