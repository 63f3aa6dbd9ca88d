"""Tests of the experiments of Allwein, Schapire & Singer."""
