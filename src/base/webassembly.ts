/**
 * The part of WebAssembly that is used. Its types belong to the DOM library, which a library for Node does not load.
 */
interface WebAssemblyNamespace {
  readonly Memory: new (limits: { initial: number; maximum: number }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: Readonly<Record<string, Readonly<Record<string, object>>>>,
  ) => { readonly exports: unknown };
}

/** Memory in pages of 64 KiB. Its buffer is replaced when it grows. */
export interface WasmMemory {
  /** The bytes. */
  readonly buffer: ArrayBuffer;
  /** Adds pages, and returns the previous number. Throws a `RangeError` if there is no room. */
  grow(pages: number): number;
}

/** WebAssembly, as every supported Node has it. */
export const webAssembly: WebAssemblyNamespace = (
  globalThis as unknown as { readonly WebAssembly: WebAssemblyNamespace }
).WebAssembly;
