package wordindex

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/funnelwork/funnelwork/internal/id"
)

// search is the state of one call of Find. Each uint64 of bits covers 64 places.
type search struct {
	probes       [][]int16 // the slices of each term
	companyTerms uint8     // a bit for each term that some company has
	blocks       map[int32]*blockState

	companies companySets // nil until read
	needsOwn  bool        // no company has all words, so a match has one itself
}

// blockState is the part of a block that has been read.
type blockState struct {
	terms   [][]uint64 // the AND of each term's slices; nil before the first
	company []uint64   // contacts with a company
	hits    []uint64   // matches with known companies; nil: see matching
}

func newSearch(terms []Term) *search {
	s := &search{probes: make([][]int16, len(terms)), blocks: map[int32]*blockState{}}
	for i, t := range terms {
		if s.probes[i] = wordProbes(t.Word); t.More || len(t.Companies) > 0 {
			s.companyTerms |= 1 << i
		}
	}
	return s
}

// pageNumbers returns the numbers of the bit pages to read from each block.
func (s *search) pageNumbers() []int16 {
	all := slices.Concat(s.probes...)
	if s.companyTerms != 0 {
		all = append(all, hasCompany)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// addPage adds a page of bits to the state of its block. data is only valid during the call.
func (s *search) addPage(block int32, page int16, data []byte) {
	b := s.blocks[block]
	if b == nil {
		b = &blockState{terms: make([][]uint64, len(s.probes))}
		s.blocks[block] = b
	}
	if page == hasCompany {
		b.company = andWords(nil, data)
	}
	for i := range b.terms {
		if slices.Contains(s.probes[i], page) {
			b.terms[i] = andWords(b.terms[i], data)
		}
	}
}

// andWords returns words AND data, reusing words, or the uint64s of data if words is nil.
func andWords(words []uint64, data []byte) []uint64 {
	if words == nil {
		words = make([]uint64, len(data)/8)
		for at := range words {
			words[at] = binary.LittleEndian.Uint64(data[8*at:])
		}
		return words
	}
	for at := range words {
		words[at] &= binary.LittleEndian.Uint64(data[8*at:])
	}
	return words
}

// takeCompanies builds the set of companies of each term.
func (s *search) takeCompanies(of [][]id.ID) {
	s.companies = newCompanySets()
	hashes := make([][]uint32, len(of))
	for i := range of {
		hashes[i] = make([]uint32, len(of[i]))
		for j := range of[i] {
			hashes[i][j] = companyHash(&of[i][j])
			s.companies.add(i, hashes[i][j])
		}
	}
	s.needsOwn = !s.companies.hasCommon(hashes)
}

// takeHashes computes the matches of a page of company hashes, in a block whose bits have been taken.
func (s *search) takeHashes(block int32, page int16, data []byte) {
	b := s.blocks[block]
	if b == nil {
		return
	}
	if b.hits == nil {
		b.hits = make([]uint64, len(b.company))
	}
	const wordBytes = 4 * 64
	for at := int(page-firstHashes) * hashesOfPage / 64; len(data) > 0; at++ {
		n := min(len(data), wordBytes)
		b.hits[at] = s.matchingPlaces(b, at, data[:n])
		data = data[n:]
	}
}

// hit is a uint64 of bits with candidates. Its position is that of a page of ids, which has 64 ids.
type hit struct {
	block int32
	page  int16
	word  uint64
}

// findHits returns the candidates found so far and their number. It stops when there are more than most.
func (s *search) findHits(most int) (found []hit, n int) {
	for number, b := range s.blocks {
		for at := range b.terms[0] {
			var word uint64
			if b.hits != nil {
				word = b.hits[at]
			} else {
				word = s.matchingPlaces(b, at, nil)
			}
			if word == 0 {
				continue
			}
			found = append(found, hit{number, int16(firstIDs + at), word})
			if n += bits.OnesCount64(word); n > most {
				return nil, n
			}
		}
	}

	return found, n
}

// matchingPlaces returns the places of the uint64 at that match all terms. hashes are the company hashes of these
// places; without hashes every company counts as a match for the terms that companies have.
func (s *search) matchingPlaces(b *blockState, at int, hashes []byte) uint64 {
	// have all words, have one, lack only words that companies have
	own := ^uint64(0)
	some := uint64(0)
	rest := ^uint64(0)
	for i := range b.terms {
		word := b.terms[i][at]
		own, some = own&word, some|word
		if s.companyTerms>>i&1 == 0 {
			rest &= word
		}
	}

	if rest &^= own; s.needsOwn {
		rest &= some
	}
	if s.companyTerms == 0 || rest == 0 {
		return own
	}
	if rest &= b.company[at]; hashes == nil {
		return own | rest
	}

	has := s.ofCompanies(hashes, rest)
	for i := range b.terms {
		rest &= b.terms[i][at] | has[i]
	}

	return own | rest
}

// ofCompanies returns, for each term, the places whose company has the term, among the places in asked, which have a
// company.
func (s *search) ofCompanies(hashes []byte, asked uint64) (has [MaxTerms]uint64) {
	for ; asked != 0; asked &= asked - 1 {
		place := bits.TrailingZeros64(asked)
		terms := s.companies[binary.LittleEndian.Uint32(hashes[4*place:])%companySetsSize]
		for ; terms != 0; terms &= terms - 1 {
			has[bits.TrailingZeros8(terms)%MaxTerms] |= 1 << place
		}
	}
	return has
}
