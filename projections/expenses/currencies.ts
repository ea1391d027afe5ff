/**
 * The currencies of ISO 4217 as of 2026 with their numbers of decimals, and the cryptocurrency TON with nine decimals.
 * Metals, funds and test codes are left out. Old codes such as HRK and BGN stay, because stored amounts use them.
 */
const DECIMALS: ReadonlyMap<string, number> = new Map([
  ...coded(0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'),
  ...coded(
    2,
    `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUP CVE CZK
    DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP
    LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB
    SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER
    ZAR ZMW ZWG`,
  ),
  ...coded(3, 'BHD IQD JOD KWD LYD OMR TND'),
  ...coded(9, 'TON'),
])

function coded(decimals: number, codes: string): readonly (readonly [string, number])[] {
  return codes.split(/\s+/).map((code) => [code, decimals] as const)
}

/** The number of decimals of a currency. Undefined if the currency does not exist. */
export const decimalsOf = (currency: string): number | undefined => DECIMALS.get(currency)

export const CURRENCIES: readonly string[] = [...DECIMALS.keys()].sort()
