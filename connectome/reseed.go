package connectome

// Reseeded is the network with another run seed. All else is shared.
func (c *Connectome) Reseeded(runSeed uint64) *Connectome {
	made := *c
	made.RunSeed = runSeed
	return &made
}
