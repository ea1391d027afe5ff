import type { Mistake } from './mistake.ts'

/** Mistakes that acknowledge a write before it is on the disk. The power-loss test must report each mistake with a line that `finds` matches. */
export const DISK_BUGS: Readonly<Record<string, Mistake & { readonly finds: RegExp }>> = {
  'LMDB commits without a sync': {
    file: 'processors/adapters/lmdb/environment.ts',
    find: 'noSync: temporary',
    replace: 'noSync: true',
    finds: /event \d+ was acknowledged and is not in the log/,
  },
  'LMDB syncs a commit after it was acknowledged': {
    file: 'processors/adapters/lmdb/environment.ts',
    find: 'overlappingSync: false',
    replace: 'overlappingSync: true',
    finds: /log\/.* contains unsynced bytes when events is acknowledged|was acknowledged and is not|cannot be opened/,
  },
  'a durable table does not wait for the disk': {
    file: 'processors/adapters/lmdb/generation.ts',
    find: '(durable ? drain() : gathering.drainLater(bytes))',
    replace: 'gathering.drainLater(bytes)',
    finds: /row \d+ of tributary-(control|ledger) was acknowledged and is not there/,
  },
  'the key file appends without fdatasync': {
    file: 'processors/adapters/key-file/file.ts',
    find: 'writeAll(fd, Buffer.from(text), end)\n      fdatasyncSync(fd)',
    replace: 'writeAll(fd, Buffer.from(text), end)',
    finds: /the key of person-\d+ was acknowledged and is not there/,
  },
  'the key file overwrites a key without fdatasync': {
    file: 'processors/adapters/key-file/file.ts',
    find: "writeAll(fd, Buffer.from(text, 'latin1'), position)\n      fdatasyncSync(fd)",
    replace: "writeAll(fd, Buffer.from(text, 'latin1'), position)",
    finds: /the key of person-\d+ was destroyed and is still on the disk/,
  },
  'a new key file is not synced before it gets its name': {
    file: 'processors/adapters/key-file/file.ts',
    find: 'fsyncSync(fd)\n  closeSync(fd)\n  renameSync',
    replace: 'closeSync(fd)\n  renameSync',
    finds: /contains unsynced bytes when founding is acknowledged|cannot be opened/,
  },
  'the folder of a new key file is not synced': {
    file: 'processors/adapters/key-file/file.ts',
    find: 'renameSync(draft, path)\n  syncPath(folder)',
    replace: 'renameSync(draft, path)',
    finds: /cannot be opened/,
  },
}
