import type { Secret, Secrets } from '../../engine/ports/secrets.ts'
import { NO_SECRET, refusalOf, throwFirst } from '../../engine/people/key-store-rules.ts'
import type { KeyFile } from './file.ts'
import { newKey, type EntryLine, type Slots } from './lines.ts'
import { blankSlot, padded, secretInSlot, slotSize, slotText, type SecretAddress } from './slots.ts'

/** The secrets in the key file. The functions of the file are synchronous, so no other call runs between a read and the write after it. */
export const createFileSecrets = (file: KeyFile): Secrets => ({
  read: async (subject, name) => {
    file.refresh()
    return storedSecret(file, { subject, name })?.secret
  },
  write: async (subject, name, next) => writeSecret(file, { subject, name }, next),
  drop: async (subject, name) => {
    const slots = file.people.get(subject)?.secrets.get(name)
    if (slots !== undefined) blank(file, slots)
  },
})

/** Blanks all slots that contain no stored secret. The process may have been killed before it blanked them. */
export const blankUnusedSlots = (file: KeyFile): void => {
  for (const [subject, { secrets, unused }] of file.people) {
    for (const slots of unused) blank(file, slots)
    for (const [name, slots] of secrets) {
      const used = storedSecret(file, { subject, name })?.slot
      for (const slot of [0, 1] as const)
        if (slot !== used) file.overwrite(slots.positions[slot], blankSlot(slots.size))
    }
  }
}

/** Blanks both slots. */
export const blank = (file: KeyFile, { positions, size }: Slots): void => {
  for (const position of positions) file.overwrite(position, blankSlot(size))
}

const writeSecret = (
  file: KeyFile,
  owner: SecretAddress,
  { expect, value }: { readonly expect: number; readonly value: string },
): Secret | undefined => {
  const { subject, name } = owner
  const entry = file.people.get(subject)
  throwFirst([refusalOf(subject, entry)])
  const stored = storedSecret(file, owner)
  if ((stored?.secret.version ?? 0) !== expect) return stored?.secret ?? NO_SECRET
  const text = slotText(owner, { version: expect + 1, value })
  const slots = entry?.secrets.get(name)
  if (slots !== undefined && text.length <= slots.size) {
    const free = stored?.slot === 0 ? 1 : 0
    file.overwrite(slots.positions[free], padded(text, slots.size))
    file.overwrite(slots.positions[free === 0 ? 1 : 0], blankSlot(slots.size))
    return undefined
  }
  const size = slotSize(text)
  const lines: EntryLine[] = entry?.key === undefined ? [newKey(subject)] : []
  file.append([...lines, { of: subject, name, slots: [padded(text, size), blankSlot(size)] }])
  if (slots !== undefined) blank(file, slots)
  return undefined
}

/** The newest secret in the two slots. Both slots contain one only after a crash between the two writes of `writeSecret`. */
const storedSecret = (
  file: KeyFile,
  owner: SecretAddress,
): { readonly secret: Secret; readonly slot: 0 | 1 } | undefined => {
  const slots = file.people.get(owner.subject)?.secrets.get(owner.name)
  if (slots === undefined) return undefined
  const [first, second] = slots.positions.map((position) => secretInSlot(owner, file.read(position, slots.size)))
  if (second !== undefined && second.version > (first?.version ?? 0)) return { secret: second, slot: 1 }
  return first && { secret: first, slot: 0 }
}
