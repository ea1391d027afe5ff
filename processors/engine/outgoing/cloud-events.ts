import type { Domain } from '../../../projections/projection.ts'
import type { Codec, Head } from '../../../schemas/codec.ts'
import type { EventMeta } from '../../../schemas/event.ts'
import type { Log, NewRecord } from '../ports/log.ts'

type Headers = NonNullable<NewRecord['headers']>

interface About {
  readonly domain: Pick<Domain, 'name' | 'keyedByPeople'>
  readonly codec: Pick<Codec, 'head'>
}

/**
 * Adds the headers of the CloudEvents Kafka binding (binary mode) to each appended record. They are derived from the record's event, which
 * is decoded if the caller did not pass it. Returns a log without `hasHeaders` as it is.
 */
export const withCloudEvents = (log: Log, about: About): Log => {
  const { head } = about.codec
  if (log.hasHeaders !== true || head === undefined) return log
  const described = (record: NewRecord): NewRecord => {
    try {
      return { ...record, headers: headersOf(record, about.domain, head(record.value, record.event)) }
    } catch {
      // The reader of the record reports why it cannot be read.
      return record
    }
  }
  return { ...log, append: (records, patienceMs) => log.append(records.map(described), patienceMs) }
}

const headersOf = ({ key }: NewRecord, domain: About['domain'], { type, meta, schema }: Head): Headers => {
  const subject = isPerson(domain, { type, key, meta }) ? {} : { ce_subject: key }
  return {
    ce_specversion: '1.0',
    ce_id: meta.eventId,
    ce_source: `urn:tributary:${domain.name}:${meta.source}`,
    ce_type: type,
    ce_time: timeOf(meta),
    ce_dataschema: `urn:tributary:schema:${schema.name}:${schema.version}`,
    ...subject,
    'content-type': 'application/avro',
  }
}

/** Headers are not sealed, so they do not contain a key that can be the id of a person. */
const isPerson = (
  { keyedByPeople }: About['domain'],
  { type, key, meta }: { readonly type: string; readonly key: string; readonly meta: EventMeta },
): boolean => keyedByPeople === undefined || keyedByPeople.includes(type) || meta.subjectId === key

/** The range of RFC 3339: it has years of four digits. */
const [EARLIEST, LATEST] = [Date.parse('0000-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')]

/** `occurredAt`; if RFC 3339 cannot express it, `recordedAt`; else 1970. */
const timeOf = ({ occurredAt, recordedAt }: EventMeta): string =>
  new Date([occurredAt, recordedAt].find((ms) => ms >= EARLIEST && ms <= LATEST) ?? 0).toISOString()
