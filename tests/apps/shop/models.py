from django.conf import settings
from django.db import models


class Item(models.Model):
    name = models.CharField(max_length=40)
    price_cents = models.PositiveIntegerField()


class Order(models.Model):
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    # The key of the session, which is in the cookie of whoever ordered.
    session = models.CharField(max_length=40)
    item = models.ForeignKey(Item, on_delete=models.CASCADE)
    quantity = models.PositiveIntegerField()
