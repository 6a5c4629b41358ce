import type { Dialect } from './dialect.ts';
import { jsonReply } from './reply.ts';

/** The refusals of servers made with FastAPI. */
export const plainRefusals: Pick<Dialect, 'notFound' | 'unauthorized' | 'unknownField'> = {
  unauthorized: () => ({
    status: 401,
    message: 'Unauthorized',
    body: { json: { error: 'Unauthorized' } },
  }),
  notFound: () => jsonReply({ detail: 'Not Found' }, 404),
  unknownField: (name) => ({
    status: 400,
    message: `Extra inputs are not permitted: '${name}'`,
    param: name,
  }),
};
