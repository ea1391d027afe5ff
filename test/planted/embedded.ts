import type { Mistakes } from './mistake.ts'

const ADAPTER_TESTS = 'test/processors/adapters'

export const LMDB_LOG: Mistakes = {
  'appends that are flushed together get the same offsets': {
    file: 'processors/adapters/lmdb/flusher.ts',
    find: 'next.set(topic, offset + 1)',
    replace: 'next.set(topic, offset)',
    by: `${ADAPTER_TESTS}/lmdb/log.test.ts`,
    test: 'overlapping appends are acknowledged with their own positions',
  },
  'a subscriber continues after a batch that failed': {
    file: 'processors/adapters/lmdb/groups.ts',
    find: 'await subscriber.batch(records, lease)',
    replace: 'await subscriber.batch(records, lease).catch((error: unknown) => subscriber.failed(error))',
    by: `${ADAPTER_TESTS}/lmdb/log.test.ts`,
    test: 'a batch that throws is delivered again, completely and in order',
  },
  'two members of a group own the partition at once': {
    file: 'processors/adapters/lmdb/groups.ts',
    find: 'while (!isFirst() && !stopping.signal.aborted)',
    replace: 'while (false)',
    by: `${ADAPTER_TESTS}/lmdb/log.test.ts`,
    test: 'a member that leaves in the middle does not affect',
  },
  'a log with another identity is accepted': {
    file: 'processors/adapters/lmdb/log.ts',
    find: 'if (expected !== undefined) requireIdentity(topic, expected, identity)',
    replace: '',
    by: `${ADAPTER_TESTS}/lmdb/log.test.ts`,
    test: 'a topic with another identity than the expected one is refused',
  },
}

export const LMDB_TABLES: Mistakes = {
  'only the first condition of a chunk is checked': {
    file: 'processors/adapters/lmdb/generation.ts',
    find: 'chunk.every((write, index) => write.expect',
    replace: 'chunk.slice(0, 1).every((write, index) => write.expect',
    by: `${ADAPTER_TESTS}/lmdb/store.test.ts`,
    test: 'a chunk is written completely or not at all',
  },
  'a checkpoint is moved from any position': {
    file: 'processors/adapters/lmdb/generation.ts',
    find: 'if (checkpoint !== undefined) requireCheckpoint(spec.name, checkpoint, checkpoints.get(checkpoint.partition) ?? 0)',
    replace: '',
    by: `${ADAPTER_TESTS}/lmdb/store.test.ts`,
    test: 'a commit that does not move the checkpoint requires it nevertheless',
  },
  'the old index key of a changed item stays in the index': {
    file: 'processors/adapters/lmdb/items.ts',
    find: 'if (from !== undefined) void tables.indexes.get(name)?.remove(from)',
    replace: '',
    by: `${ADAPTER_TESTS}/lmdb/store.test.ts`,
    test: 'follow changes that are on the disk',
  },
  'expired items are read': {
    file: 'processors/adapters/lmdb/reader.ts',
    find: '!isReturned(item, query, { ttl: spec.ttl, now: now() })',
    replace: 'false',
    by: `${ADAPTER_TESTS}/lmdb/store.test.ts`,
    test: 'hide expired items and fill the page nevertheless',
  },
  'a page of a scan begins with the last item of the page before': {
    file: 'processors/adapters/lmdb/generation.ts',
    find: 'exclusiveStart: last !== undefined',
    replace: 'exclusiveStart: false',
    by: `${ADAPTER_TESTS}/lmdb/store.test.ts`,
    test: 'bulk writes items from arrays and streams',
  },
  'after a failed write older items are written over newer ones': {
    file: 'processors/adapters/lmdb/gathering.ts',
    find: 'merged(writing, next)',
    replace: 'merged(next, writing)',
    by: `${ADAPTER_TESTS}/lmdb/gathering.test.ts`,
    test: 'a gathering keeps the newest version of each item',
  },
  'a table accepts commits although its last write failed': {
    file: 'processors/adapters/lmdb/gathering.ts',
    find: '(fault === undefined ? undefined : drain())',
    replace: 'undefined',
    by: `${ADAPTER_TESTS}/lmdb/gathering.test.ts`,
    test: 'accepts no more commits until the failed write has succeeded',
  },
}

export const KEY_FILE: Mistakes = {
  'the digits of a destroyed key stay in the file': {
    file: 'processors/adapters/key-file/store.ts',
    find: 'for (const key of entry.destroyed) file.erase(key)\n  for',
    replace: 'for',
    by: `${ADAPTER_TESTS}/key-file/store.test.ts`,
    test: 'contains no digit of a destroyed key',
  },
  'a person who is being forgotten gets a key': {
    file: 'processors/adapters/key-file/store.ts',
    find: 'if (fault !== undefined) {',
    replace: 'if (false as boolean) {',
    by: `${ADAPTER_TESTS}/key-file/store.test.ts`,
    test: 'a person who is being forgotten gets no key',
  },
  'an old version of a secret stays in the file': {
    file: 'processors/adapters/key-file/secrets.ts',
    find: 'file.overwrite(slots.positions[free === 0 ? 1 : 0], blankSlot(slots.size))',
    replace: '',
    by: `${ADAPTER_TESTS}/key-file/store.test.ts`,
    test: 'contains no character of an old, a dropped or a destroyed secret',
  },
  'a destroyed secret stays in the file': {
    file: 'processors/adapters/key-file/store.ts',
    find: 'for (const slots of entry.unused) blank(file, slots)',
    replace: '',
    by: `${ADAPTER_TESTS}/key-file/store.test.ts`,
    test: 'contains no character of an old, a dropped or a destroyed secret',
  },
  'a secret that was not written completely is read': {
    file: 'processors/adapters/key-file/slots.ts',
    find: 'if (check !== checkOf(owner, `${version}.${value}`)) return undefined',
    replace: 'if (check === undefined) return undefined',
    by: `${ADAPTER_TESTS}/key-file/store.test.ts`,
    test: 'after a kill at any byte of the write of a secret',
  },
  'the rest of a failed write stays in the file': {
    file: 'processors/adapters/key-file/file.ts',
    find: 'catch (error) {\n      ftruncateSync(fd, end)',
    replace: 'catch (error) {',
    by: `${ADAPTER_TESTS}/key-file/refused.test.ts`,
    test: 'a key that the disk rejects leaves no bytes before the next key',
  },
  'a key file without its end is opened': {
    file: 'processors/adapters/key-file/file.ts',
    find: 'if (end < least) {',
    replace: 'if (false as boolean) {',
    by: `${ADAPTER_TESTS}/key-file/store.test.ts`,
    test: 'a file that is shorter than before is rejected',
  },
  'a write that fails is acknowledged': {
    file: 'processors/adapters/key-file/store.ts',
    find: 'if (lines.length > 0) file.append(lines)',
    replace: 'try { if (lines.length > 0) file.append(lines) } catch { return refused }',
    by: `${ADAPTER_TESTS}/key-file/refused.test.ts`,
    test: 'a key that the disk rejects is not acknowledged',
  },
}

export const TIMESTREAM: Mistakes = {
  'every point has the same version': {
    file: 'processors/adapters/timestream/records.ts',
    find: 'Version: point.version,',
    replace: 'Version: 1,',
    by: `${ADAPTER_TESTS}/timestream/series.test.ts`,
    test: 'if two points have one instant, the point of the higher version stays',
  },
  'points that the service rejects are not reported': {
    file: 'processors/adapters/timestream/series.ts',
    find: 'return rejectedOf(points, error.RejectedRecords ?? [])',
    replace: 'return []',
    by: `${ADAPTER_TESTS}/timestream/series.test.ts`,
    test: 'one of a hundred points outside of the retention',
  },
  'an invalid point rejects its whole batch': {
    file: 'processors/adapters/timestream/series.ts',
    find: 'if (points.length === 1) return points.map',
    replace: 'if (points.length > 0) return points.map',
    by: `${ADAPTER_TESTS}/timestream/series.test.ts`,
    test: 'a point that is too large for a call is reported',
  },
  'only the first page of an answer is read': {
    file: 'processors/adapters/timestream/queries.ts',
    find: 'while (token !== undefined)',
    replace: 'while (false as boolean)',
    by: `${ADAPTER_TESTS}/timestream/series.test.ts`,
    test: 'all pages of an answer are read',
  },
  'points count as written although the service is down': {
    file: 'processors/adapters/timestream/series.ts',
    find: "throw unavailable('accept records', error)",
    replace: '',
    by: `${ADAPTER_TESTS}/timestream/series.test.ts`,
    test: 'a service that is down causes a retriable fault',
  },
}

/** Mistakes in adapters that need no service. */
export const EMBEDDED: Mistakes = { ...LMDB_LOG, ...LMDB_TABLES, ...KEY_FILE, ...TIMESTREAM }
