package exchange

// Bounds of a Length.
const (
	Shortest = 64      // words
	Longest  = 1 << 14 // words; more come in a second message
	patience = 64      // gathers of less than a quarter until messages become shorter
)

// Length is how many words each part gives in the first message of a Gather: the same in all parts, as long as hardly any
// burst needs a second one. The zero value is Shortest.
type Length struct {
	words int
	loose int // gathers that needed far less
}

// Words is the length of the next first message; its first word is how many words the part gives.
func (l *Length) Words() int { return max(l.words, Shortest) }

// Adapt chooses the next length by the most words that a part gave, alike in all parts.
func (l *Length) Adapt(most int) {
	l.words = l.Words()
	switch {
	case most > Longest:
	case most+1 > l.words:
		for l.words < most+1+most/4 && l.words < Longest {
			l.words *= 2
		}
		l.loose = 0
	case 4*most >= l.words:
		l.loose = 0
	default:
		if l.loose++; l.loose == patience {
			l.words, l.loose = max(Shortest, l.words/2), 0
		}
	}
}
