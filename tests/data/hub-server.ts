import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A request as the server got it. */
export interface HubRequest {
  readonly method: string;
  readonly path: string;
  readonly authorization: string;
  readonly body: string;
}

/** A server that answers an upload as the Hugging Face Hub does. */
export class HubServer {
  asked: HubRequest[] = [];
  /** What it answers in place of what is right, by the beginning of the path. */
  faults: Readonly<Record<string, (response: ServerResponse) => void>> = {};
  url = '';
  /** From how many bytes on a file goes to the large file storage. */
  largeFrom: number = Number.POSITIVE_INFINITY;
  readonly #server: Server = createServer(
    (request, response) => void this.#answer(request, response),
  );

  async start(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await buffer(request)).toString('utf8');
    const { method = '', url: path = '', headers } = request;
    this.asked.push({ method, path, authorization: headers.authorization ?? '', body });
    const fault = Object.entries(this.faults).find(([beginning]) => path.startsWith(beginning));
    if (fault !== undefined) {
      fault[1](response);
      return;
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(this.#said(path, body)));
  }

  #said(path: string, body: string): unknown {
    if (path === '/api/repos/create') {
      return { url: `${this.url}/datasets/me/rows`, id: '1', name: 'me/rows' };
    }
    if (path.includes('/preupload/')) {
      const { files } = JSON.parse(body) as { files: { path: string; size: number }[] };
      return {
        files: files.map((file) => ({
          ...file,
          uploadMode: file.size >= this.largeFrom ? 'lfs' : 'regular',
          shouldIgnore: false,
        })),
      };
    }
    if (path.endsWith('/info/lfs/objects/batch')) {
      const { objects } = JSON.parse(body) as { objects: { oid: string; size: number }[] };
      return {
        transfer: 'basic',
        objects: objects.map((object) => ({
          ...object,
          actions: { upload: { href: `${this.url}/storage/${object.oid}` } },
        })),
      };
    }
    return { success: true, commitOid: 'a', commitUrl: `${this.url}/commit/a` };
  }
}
