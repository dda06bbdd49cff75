"""The guest's boot sector; whether it runs is tested with QEMU in test_vms."""

import testtools

from nova_twotier.calibration import guest


class TestBootSector(testtools.TestCase):
    def test_a_bios_takes_it_for_one(self):
        for waits in (False, True):
            sector = guest.boot_sector(5, waits)
            self.assertEqual(512, len(sector))
            self.assertEqual(b"\x55\xaa", sector[-2:])
            self.assertEqual(0, sector[-3], "the code reaches the signature")

    def test_the_number_of_scans_is_all_that_differs_between_loads(self):
        few, many = guest.boot_sector(0x01020304, True), guest.boot_sector(0xA1A2A3A4, True)
        differing = [index for index in range(512) if few[index] != many[index]]
        self.assertEqual(4, len(differing))
        at = slice(differing[0], differing[-1] + 1)
        self.assertEqual((b"\x04\x03\x02\x01", b"\xa4\xa3\xa2\xa1"), (few[at], many[at]))

    def test_only_one_that_waits_halts(self):
        halt = b"\xfb\xf4"  # sti; hlt
        self.assertIn(halt, guest.boot_sector(5, True))
        self.assertNotIn(halt, guest.boot_sector(5, False))

    def test_more_scans_than_it_can_count(self):
        self.assertRaises(OverflowError, guest.boot_sector, 2**32, True)
