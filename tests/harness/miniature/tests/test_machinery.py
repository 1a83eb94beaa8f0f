def test_the_machinery_has_no_lock():
    assert True
