import type { ReadingReportedData } from '../../schemas/generated/scales.ts'

/**
 * The number of remembered readings of a tap. A short text contains them: for each reading its name (device, boot and
 * sequence number) and a hash of its values. The hash does not include the time of the measurement, because a device
 * that repeats a reading computes its age again.
 */
const REMEMBERED_READINGS = 16

/** `again`: the device repeated the reading. `reused`: the device used the same sequence number before for other values. */
export type SequenceUse = 'new' | 'again' | 'reused'

export const sequenceUseOf = (recent: string | undefined, reading: ReadingReportedData): SequenceUse => {
  if (recent === undefined) return 'new'
  const name = nameOf(reading)
  const start = recent.indexOf(name)
  if (start === -1) return 'new'
  return recent.startsWith(valueOf(reading), start + name.length) ? 'again' : 'reused'
}

export const withReading = (recent: string | undefined, reading: ReadingReportedData): string => {
  const entry = nameOf(reading) + valueOf(reading)
  return recent === undefined ? entry : `${withoutOldest(recent)};${entry}`
}

/** Drops the oldest reading if there are REMEMBERED_READINGS already. */
const withoutOldest = (recent: string): string => {
  let [start, count] = [recent.length, 0]
  while (count < REMEMBERED_READINGS - 1) {
    start = recent.lastIndexOf(';', start - 1)
    if (start <= 0) return recent
    count += 1
  }
  return recent.slice(start + 1)
}

/** The name of a reading. It ends with a colon, so that no name is the beginning of another name. */
const nameOf = (reading: ReadingReportedData): string => `${bootHashOf(reading)}.${reading.seq.toString(36)}:`

/** Returns a text that identifies a device and one of its starts (boots). */
export const bootHashOf = ({ device_id, boot }: { readonly device_id: string; readonly boot: string }): string =>
  hash(`${device_id}|${boot}`)

export const valueOf = ({ weight_lbs, level_pct, battery_v, battery_pct, tare_status }: ReadingReportedData): string =>
  hash(`${weight_lbs}|${level_pct}|${battery_v}|${battery_pct}|${tare_status}`)

/** The FNV-1a hash of a text, as seven letters and digits. */
const hash = (text: string): string => {
  let sum = 0x811c9dc5
  for (let index = 0; index < text.length; index++) sum = Math.imul(sum ^ text.charCodeAt(index), 0x01000193)
  return (sum >>> 0).toString(36).padStart(7, '0')
}
