/** Codes which mean that a connection was not made, or not trusted. */
const unsentCodes =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|CERT_\w+|CRL_\w+|UNABLE_TO_\w+|ERROR_IN_C\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH|ERR_TLS_CERT_\w+|ERR_SSL_(WRONG_VERSION_NUMBER|UNSUPPORTED_PROTOCOL|UNKNOWN_PROTOCOL|PACKET_LENGTH_TOO_LONG|\w*HANDSHAKE_FAILURE|\w*PROTOCOL_VERSION|\w*UNRECOGNIZED_NAME))$/;
const unsentWords =
  /^bad port$|before secure TLS connection was established|wrong version number|handshake failure/;

/** Whether a request provably never reached its server, which therefore cannot have charged for it. */
export function isUnsent(error: unknown): boolean {
  return causesOf(error).some((cause) => {
    const { code, syscall, message, errors } = cause;
    if (syscall === 'read') return false;
    if (syscall === 'connect' || syscall === 'getaddrinfo') return true;
    if (Array.isArray(errors) && errors.length > 0) return errors.every(isUnsent);
    if (unsentCodes.test(String(code))) return syscall !== 'write';
    return unsentWords.test(String(message));
  });
}

/** An error and its causes, outermost first. */
export function causesOf(error: unknown): readonly Readonly<Record<string, unknown>>[] {
  const causes: Readonly<Record<string, unknown>>[] = [];
  let cause = error;
  while (causes.length < 6 && typeof cause === 'object' && cause !== null) {
    causes.push(cause as Readonly<Record<string, unknown>>);
    cause = (cause as { cause?: unknown }).cause;
  }
  return causes;
}
