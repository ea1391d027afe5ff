import { removing, type Store } from '../ports/store.ts'

/** Removes the rows whose TTL has passed at `now`, for a store that does not remove them itself. `ttl`: the name of the TTL attribute. */
export const removeExpired = async (
  store: Pick<Store, 'scan' | 'commit'>,
  { ttl, now, signal }: { readonly ttl: string; readonly now: number; readonly signal: AbortSignal },
): Promise<void> => {
  for await (const page of store.scan()) {
    if (signal.aborted) return
    const expired = page.filter(({ [ttl]: seconds }) => typeof seconds === 'number' && seconds * 1000 <= now)
    if (expired.length > 0) await store.commit(expired.map((row) => [[removing(row)]]))
  }
}
