package runfolder

import (
	"path/filepath"
	"slices"

	"burst/genome"
	"burst/genomes"
	"burst/internal/regular"
	"burst/record/manifest"
)

// Genome reads the genome of the run, with the seeds that it had, and holds it and the files it names to the manifest's
// hashes. Files are where they were, or in the folder, or came with burst.
func (f *Folder) Genome() (*genome.Genome, error) {
	m := &f.Manifest
	text, err := m.GenomeText(f.Dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(f.Dir, manifest.GenomeFile)
	var g *genome.Genome
	switch {
	case m.GenomeFolder == "":
		g, err = genome.Parse(path, text, genomes.Open)
	case filepath.IsLocal(m.GenomeFolder):
		g, err = genome.ParseIn(filepath.Join(f.Dir, m.GenomeFolder), path, text)
	default:
		g, err = genome.ParseIn(m.GenomeFolder, path, text)
	}
	if err != nil {
		return nil, err
	}
	for _, file := range g.Files {
		if !slices.Contains(m.Inputs, manifest.File(file)) {
			return nil, regular.Damaged(filepath.Join(m.GenomeFolder, file.Path), "has changed since the run: its SHA-256 is %s", file.SHA256)
		}
	}
	g.Name, g.Seed, g.RunSeed = m.Genome, m.Seed, m.RunSeed // one without a name had that of another file
	return g, nil
}
