package wordindex

import (
	"encoding/binary"
	"strings"

	"github.com/funnelwork/funnelwork/internal/id"
)

// Pages of a block, by number: one page for each slice with a bit per place, one page with a bit for each place that
// has a company, then pages with four bytes of company hash per place, then pages with the ids. All are in the order of
// places. Bits and hashes are little-endian.
const (
	places       = 8192 // per block
	hashesOfPage = 1024
	idsOfPage    = 64 // one per bit of a uint64
	hasCompany   = sliceCount
	firstHashes  = hasCompany + 1
	firstIDs     = firstHashes + places/hashesOfPage
	afterIDs     = firstIDs + places/idsOfPage
)

// member is a contact with the data that a block stores of it.
type member struct {
	id      id.ID
	company *id.ID
	words   string // contact.words: each word preceded by a space
}

// pagesOf returns the pages of a block with these members, at most 8,192, in the order of their places.
func pagesOf(members []member) (numbers []int16, data [][]byte) {
	add := func(page int, b []byte) { numbers, data = append(numbers, int16(page)), append(data, b) }
	length := (len(members) + 63) / 64 * 8
	bits := make([]byte, firstHashes*length)
	hashes := make([]byte, 0, 4*len(members))
	ids := make([]byte, 0, len(id.ID{})*len(members))
	var found []int16
	for place, m := range members {
		found = found[:0]
		for word := range strings.FieldsSeq(m.words) {
			found = slicesOf(word, found)
		}
		if m.company != nil {
			found = append(found, hasCompany)
		}
		for _, page := range found {
			bits[int(page)*length+place/8] |= 1 << (place % 8)
		}
		hashes = binary.LittleEndian.AppendUint32(hashes, companyHash(m.company))
		ids = append(ids, m.id[:]...)
	}

	for page := range firstHashes {
		add(page, bits[page*length:(page+1)*length])
	}

	for page := firstHashes; len(hashes) > 0; page++ {
		n := min(len(hashes), 4*hashesOfPage)
		add(page, hashes[:n])
		hashes = hashes[n:]
	}

	for page := firstIDs; len(ids) > 0; page++ {
		n := min(len(ids), len(id.ID{})*idsOfPage)
		add(page, ids[:n])
		ids = ids[n:]
	}

	return numbers, data
}

// companyHash returns the hash that a block stores for a company; 0 means no company.
func companyHash(company *id.ID) uint32 {
	if company == nil {
		return 0
	}
	return uint32(mixBits(binary.BigEndian.Uint64(company[:8]) ^ mixBits(binary.BigEndian.Uint64(company[8:]))))
}

// companySets holds a set of companies for each of up to MaxTerms terms: one bit of the byte that part of the company's
// hash selects. About one in a million other companies is a false positive for each company in a set.
type companySets []uint8

const companySetsSize = 1 << 20

func newCompanySets() companySets { return make(companySets, companySetsSize) }

func (s companySets) add(term int, hash uint32) { s[hash%companySetsSize] |= 1 << term }

// hasCommon reports whether one company is in all of the sets. hashes has the hashes of every set.
func (s companySets) hasCommon(hashes [][]uint32) bool {
	all := uint8(1<<len(hashes) - 1)
	in := map[uint32]uint8{} // the sets of each company that may be in all of them
	for i := range hashes {
		if len(hashes[i]) == 0 {
			return false
		}
		for _, hash := range hashes[i] {
			if s[hash%companySetsSize] == all {
				if in[hash] |= 1 << i; in[hash] == all {
					return true
				}
			}
		}
	}

	return false
}
