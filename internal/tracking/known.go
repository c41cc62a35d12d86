package tracking

import "net/netip"

// appleAgent is the whole User-Agent of the proxies of Apple's Mail Privacy Protection, in lower case.
const appleAgent = "mozilla/5.0"

// proxyAgents are parts of the User-Agents of picture proxies.
var proxyAgents = []string{"googleimageproxy", "ggpht.com", "yahoomailproxy", "yahoo mail proxy"}

// programs are parts of the User-Agents of programs that no person reads mail with.
var programs = []string{
	"bot/", "bot;", "bot)", "bot-", "bot (like", "robot", // but not the phones of Cubot
	"crawl", "spider", "scan", "preview", "headless", "phantomjs", "python", "go-http-client", "curl/", "wget/",
	"libwww", "java/", "okhttp", "axios", "node-fetch", "ruby", "php/", "apache-httpclient", "guzzle",
	"facebookexternalhit", "whatsapp", "skypeuripreview", "microsoft office existence discovery", "barracuda",
	"mimecast", "proofpoint", "symantec", "messagelabs", "fireeye", "trendmicro", "ironport", "sophos", "forcepoint",
	"fortinet", "checkpoint", "virustotal", "urlscan", "safebrowsing", "google-safety", "zscaler", "cloudmark",
	"validator", "monitor", "fetch",
}

// proxyNetworks are networks of picture proxies: Apple's own, and Google's of which its SPF record (_netblocks) tells.
var proxyNetworks = parsePrefixes(
	"17.0.0.0/8",
	"64.233.160.0/19", "66.102.0.0/20", "66.249.80.0/20", "72.14.192.0/18", "74.125.0.0/16", "209.85.128.0/17",
)

// scannerNetworks are networks that mail filters work from, as the SPF records of their vendors tell: Microsoft
// (spf.protection.outlook.com), Proofpoint, Mimecast and Barracuda.
var scannerNetworks = parsePrefixes(
	"40.92.0.0/15", "40.107.0.0/16", "52.100.0.0/15", "52.102.0.0/16", "52.103.0.0/17", "104.47.0.0/17",
	"67.231.144.0/20", "148.163.128.0/19", "185.132.180.0/22", "208.84.64.0/22", "205.220.160.0/19",
	"91.220.42.0/24", "146.101.78.0/24", "185.58.84.0/22", "195.130.217.0/24", "205.139.110.0/23", "207.211.30.0/23",
	"64.235.144.0/20", "209.222.80.0/21",
)

func parsePrefixes(all ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(all))
	for i, p := range all {
		out[i] = netip.MustParsePrefix(p)
	}
	return out
}
