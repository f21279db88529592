package exchange

// Bounds of a Length.
const (
	Shortest = 64      // words
	Longest  = 1 << 14 // words; more come in a second message
	patience = 64      // calls that need less than a quarter, until messages become shorter
)

// Length is how many words each part sends in the first message of an Allgather. It is the same in all parts, and adapts so
// that few bursts need a second message. The zero value is Shortest.
type Length struct {
	words int
	loose int // calls in a row that needed less than a quarter
}

// Words is the length of the next first message; its first word is how many words the part gives.
func (l *Length) Words() int { return max(l.words, Shortest) }

// Adapt chooses the next length from the largest number of words that a part sent. All parts choose the same.
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
