package deals

import "strings"

// CurrenciesOf is the date of the list of currencies: what ISO 4217 had then (list one of its maintenance agency). An
// older list lacks currencies that were made since, and has some that were withdrawn.
const CurrenciesOf = "2026-01-01"

// currencies are the codes of ISO 4217 for money. Codes of funds, metals, bonds and tests are none.
const currencies = " AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN" +
	" BZD CAD CDF" +
	" CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL" +
	" HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL" +
	" MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON" +
	" RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH" +
	" UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG "

// isCurrency reports whether code is a currency of ISO 4217 today, in capitals.
func isCurrency(code string) bool {
	return len(code) == 3 && !strings.Contains(code, " ") && strings.Contains(currencies, " "+code+" ")
}
