/** What a test knows better than its types do. */
export type Loose<T = any> = T;
