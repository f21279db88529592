package formula

// RuleSource is a rule of plasticity as the genome has it: names and texts. Statements assign to the variables of their
// handler, or to names of their own, as those of a model do.
type RuleSource struct {
	Params     []string
	Constants  []Line
	Synapse    []string // further variables of each synapse, beside Weight
	Source     []string // variables of each source neuron, which OnSource assigns
	Pre, Post  []string // traces
	Modulators []string
	Target     []string // state variables of the target's model that handlers read

	OnPost   []string // a post event: assigns Weight and Synapse
	OnPre    []string // a pre event: likewise, and Out
	Every    []string // a sweep: assigns Weight and Synapse
	OnSource []string // a spike of the source: assigns Source
	When     string   // makes a post event where it holds, in place of the target's spike; reads Target and params alone

	// Known has parameters whose values are known. pow by such an exponent of 0, 1 or 2 is 1, the number itself or its square; so is
	// pow by such a number that the text has.
	Known map[string]float64
}

// Names that stand for something in every rule.
const (
	Weight  = "w"        // of the synapse
	Out     = "out"      // in OnPre: what is delivered, the new Weight unless assigned
	PreToo  = "pre"      // flag, in OnPost: the synapse has a pre event in this burst too
	PostToo = "post"     // flag, in OnPre: it has a post event in this burst too
	AgePre  = "age_pre"  // bursts since the last pre event of the synapse that traces know of, MaxAge where there was none
	AgePost = "age_post" // bursts since its last post event, likewise
	Total   = "total"    // in Every: the sum of the quanta of all weights of the projection onto the target, in the weight's unit
	First   = "first"    // flag, in OnSource: the source has not fired before
	Decay   = "decay"    // in OnSource, decay(tau): exp(−age·dt/tau) of the source's last spike, by a table; 0 where tau is 0
)

// MaxAge is the largest age that a rule sees, exact in float32.
const MaxAge = 1 << 24

// ReadKind says what an input of a handler is.
type ReadKind uint8

// The inputs of handlers. Flags are 1 or 0.
const (
	ReadPre       ReadKind = iota // trace K of the source, of pre events of earlier bursts; in Every of this burst too
	ReadPost                      // trace K of the target, likewise
	ReadModulator                 // modulator K, likewise
	ReadSource                    // variable K of the source, after the spike that is delivered; in OnPre alone
	ReadTarget                    // state variable Target[K] of the target, as the burst before left it; in Every as this burst leaves it
	ReadPreToo
	ReadPostToo
	ReadAgePre
	ReadAgePost
	ReadTotal
	ReadFirst
	ReadDecay // the table of Decays[K] at the age of the source's last spike; in OnSource alone
)

// Read is an input.
type Read struct {
	Kind ReadKind
	K    int
}

// Handler is the program of a list of statements. State k of it is Weight (0) and Synapse (k−1), in OnSource Source. Next has
// them likewise; in an OnPre that assigns Out, that follows them. Input k is Reads[k]. Fired is of no use, but for When: the
// condition.
type Handler struct {
	Program *Program
	Reads   []Read
	Decays  []string // the parameters or constants that decay() is taken of
}

// Rule is a rule of plasticity whose texts have been checked; a handler without statements is nil.
type Rule struct {
	OnPost, OnPre, Every, OnSource, When *Handler

	params    []string
	constants []constant
	negative  string
	exponents []string
}
