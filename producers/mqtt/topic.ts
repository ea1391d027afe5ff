import { isId } from '../../projections/scales/keys.ts'
import { EVENT_TYPES, type EventType } from '../scales/envelope.ts'

export const ROOT = 'scale-sense'
export type Kind = EventType | 'status'
const KINDS: readonly Kind[] = [...EVENT_TYPES, 'status']

export interface Topic {
  readonly loc: string
  readonly device: string
  readonly kind: Kind
}

/** `scale-sense/{loc}/{device}/{kind}`, and nothing else: ids hold no `/`, `#`, `+` or `$`. */
export const topicOf = (name: string): Topic | undefined => {
  const [root, loc = '', device = '', last, ...rest] = name.split('/', 6)
  const kind = KINDS.find((each) => each === last)
  return root === ROOT && isId(loc) && isId(device) && kind !== undefined && rest.length === 0 ? { loc, device, kind } : undefined
}
