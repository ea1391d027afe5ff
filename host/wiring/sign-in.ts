import type { Logger } from 'pino'
import type { SignIn } from '../../producers/http/sign-in.ts'
import type { Runtime } from './runtime.ts'

/** Returns the ways to sign in, and creates the table of sessions. Loads the verification of JWTs only if an issuer is configured. */
export const openSignIn = async (
  { config: { origins, oidc }, clock, sessions }: Pick<Runtime, 'config' | 'clock' | 'sessions'>,
  logger: Logger,
): Promise<SignIn> => {
  await sessions.prepare()
  if (oidc === undefined) return { sessions, origins, schemes: [] }
  const { oidcScheme } = await import('../../producers/access/oidc.ts')
  const failed = (error: unknown): void =>
    logger.warn({ err: error }, 'the keys of the OIDC issuer cannot be fetched; JWTs are checked with the known keys')
  return { sessions, origins, schemes: [oidcScheme({ ...oidc, clock, failed })] }
}
