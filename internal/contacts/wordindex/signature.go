package wordindex

import "unicode/utf8"

// sliceCount is the number of bits of a signature.
const sliceCount = 512

// prefixes lists the prefix lengths in runes that set bits, and their number of bits. Short prefixes set more bits,
// because other words of the contact often share their first runes. Stored signatures depend on these values: a change
// requires new builds of every index.
var prefixes = [...]struct{ runes, bits int }{{1, 1}, {2, 2}, {3, 3}, {4, 1}, {5, 1}, {6, 1}, {8, 1}, {12, 1}}

// most is the maximum number of slices read for a word. The slices of the longest prefixes are the most selective.
const most = 6

// slicesOf appends to out the slices of the prefixes of word, shortest first. A slice may occur twice.
func slicesOf(word string, out []int16) []int16 {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
	hash := uint64(offset)
	next := 0
	for n, runes := 0, 0; n < len(word) && next < len(prefixes); {
		_, size := utf8.DecodeRuneInString(word[n:])
		for ; size > 0; size-- {
			hash = (hash ^ uint64(word[n])) * prime
			n++
		}
		if runes++; runes == prefixes[next].runes {
			for i := range prefixes[next].bits {
				out = append(out, int16(mixBits(hash+uint64(i))%sliceCount))
			}
			next++
		}
	}

	return out
}

// wordProbes returns the slices in which every contact with a word that starts with word has a bit.
func wordProbes(word string) []int16 {
	all := slicesOf(word, nil)
	return all[max(0, len(all)-most):]
}

// mixBits spreads the bits of x. It is the finalizer of SplitMix64.
func mixBits(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
