import { systemClock } from '../../base/clock.ts';
import { type Delivery, delivered, withFaults } from './delivery.ts';
import type { Call, Dialect, Exchange, Reply, Routes, Service } from './dialect.ts';
import { hasFault } from './faults.ts';
import { objectOf } from './fields.ts';
import { checkRefusals } from './refusals.ts';
import { Rejection, type RejectionOptions } from './rejection.ts';
import { htmlReply, jsonReply } from './reply.ts';

/** The reply to a request. Rejects with the reason of the signal if the client disconnects first. */
export async function respond(
  exchange: Exchange,
  service: Service,
  signal: AbortSignal,
): Promise<Delivery> {
  const call: Call = { exchange, service, body: objectOf(exchange.body) };
  const headers = service.dialect.headers?.(call) ?? {};
  try {
    const reply = await answer(call, signal);
    return delivered(withHeaders(reply, headers), exchange.faults);
  } catch (error) {
    if (signal.aborted) throw error;
    service.account.rejected++;
    const reply = refused(service.dialect, rejectionOf(error), exchange);
    return delivered(withHeaders(reply, headers), []);
  }
}

/** Answers an item of a batch, without delay, as the equivalent live request. */
export function answerItem(exchange: Exchange, service: Service): Reply {
  const call: Call = { exchange, service, body: objectOf(exchange.body) };
  try {
    checkRefusals(call);
    const route = routeOf(service.dialect.calls, exchange);
    if (route === undefined) return missing(service.dialect, exchange);
    return withFaults(route(call), exchange.faults);
  } catch (error) {
    return refused(service.dialect, rejectionOf(error), exchange);
  }
}

async function answer(call: Call, signal: AbortSignal): Promise<Reply> {
  const { service, exchange } = call;
  checkKey(service, exchange);
  checkRefusals(call);
  if (hasFault(exchange.faults, 'stall')) await untilAborted(signal);
  const { dialect } = service;
  const route = routeOf(dialect.calls, exchange) ?? routeOf(dialect.information, exchange);
  if (route === undefined) return missing(dialect, exchange);
  const needsBody = exchange.method === 'POST' && !exchange.path.endsWith('/cancel');
  if (needsBody && exchange.body === undefined) {
    throw new Rejection({ status: 400, message: 'The body is not valid JSON.' });
  }
  if (asksModel(dialect, exchange)) {
    await systemClock.sleep(service.latencyOf(exchange.index), signal);
  }
  return route(call);
}

/** Whether a request calls the model. */
export function asksModel(dialect: Dialect, exchange: Pick<Exchange, 'method' | 'path'>): boolean {
  return routeOf(dialect.calls, exchange) !== undefined;
}

function routeOf(routes: Routes, { method, path }: Pick<Exchange, 'method' | 'path'>) {
  const name = `${method} ${path}`;
  const wide = Object.keys(routes).find(
    (route) => route.endsWith('/*') && name.startsWith(route.slice(0, -1)),
  );
  return routes[name] ?? routes[wide ?? ''];
}

function checkKey({ settings, dialect }: Service, { headers, path }: Exchange): void {
  const { apiKey } = settings;
  if (apiKey === undefined || dialect.isOpen?.(path) === true) return;
  const { authorization, 'x-api-key': own } = headers;
  const bearer = authorization?.startsWith('Bearer ') === true ? authorization.slice(7) : undefined;
  const key = bearer ?? (typeof own === 'string' ? own : undefined);
  if (key !== apiKey) throw new Rejection(dialect.unauthorized(key));
}

function rejectionOf(error: unknown): RejectionOptions {
  return error instanceof Rejection ? error.options : { status: 500, message: String(error) };
}

function missing(dialect: Dialect, exchange: Exchange): Reply {
  const answered = dialect.notFound(exchange);
  if ('message' in answered) throw new Rejection(answered);
  return answered;
}

function refused(dialect: Dialect, rejection: RejectionOptions, exchange: Exchange): Reply {
  const { status, body, headers = {} } = rejection;
  if (body !== undefined && 'html' in body) return { ...htmlReply(body.html, status), headers };
  const json = body === undefined ? dialect.errorBody(rejection, exchange) : body.json;
  return { ...jsonReply(json, status), headers };
}

function withHeaders(reply: Reply, headers: Readonly<Record<string, string>>): Reply {
  return { ...reply, headers: { ...headers, ...reply.headers } };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const leave = () => reject(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
  });
}
