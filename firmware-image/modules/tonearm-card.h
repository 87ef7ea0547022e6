/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sound card of one I2S controller and one codec or two, as the device tree names them: model, tonearm,i2s,
 * tonearm,codec.
 *
 * Copyright: Tonearm maintainers
 */
#ifndef TONEARM_CARD_H
#define TONEARM_CARD_H

#include <linux/of.h>
#include <sound/soc.h>

#define TONEARM_CODECS 2

struct tonearm_card {
	struct snd_soc_card card;
	struct snd_soc_dai_link link;
	struct snd_soc_dai_link_component cpu, codecs[TONEARM_CODECS], platform;
};

static void tonearm_put_node(void *node)
{
	of_node_put(node);
}

/* A node that a property names; it stays as long as the device. */
static struct device_node *tonearm_get_node(struct device *dev, const char *property, int index)
{
	struct device_node *node = of_parse_phandle(dev->of_node, property, index);
	int ret;

	if (!node)
		return ERR_PTR(dev_err_probe(dev, -EINVAL, "%s is missing\n", property));
	ret = devm_add_action_or_reset(dev, tonearm_put_node, node);
	return ret ? ERR_PTR(ret) : node;
}

static int tonearm_get_codecs(struct device *dev, struct tonearm_card *it, const char *dai)
{
	int i, count = of_count_phandle_with_args(dev->of_node, "tonearm,codec", NULL);

	if (count < 1 || count > TONEARM_CODECS)
		return dev_err_probe(dev, -EINVAL, "tonearm,codec names not one or two codecs\n");
	for (i = 0; i < count; i++) {
		it->codecs[i].of_node = tonearm_get_node(dev, "tonearm,codec", i);
		if (IS_ERR(it->codecs[i].of_node))
			return PTR_ERR(it->codecs[i].of_node);
		it->codecs[i].dai_name = dai;
	}
	it->link.codecs = it->codecs;
	it->link.num_codecs = count;
	return 0;
}

/* Registers the card. The caller has filled `link` but for the components, and set the card's driver data. */
static int tonearm_register_card(struct device *dev, struct tonearm_card *it, const char *codec_dai)
{
	int ret;

	it->cpu.of_node = it->platform.of_node = tonearm_get_node(dev, "tonearm,i2s", 0);
	if (IS_ERR(it->cpu.of_node))
		return PTR_ERR(it->cpu.of_node);
	ret = tonearm_get_codecs(dev, it, codec_dai);
	if (ret)
		return ret;
	it->link.cpus = &it->cpu;
	it->link.platforms = &it->platform;
	it->link.num_cpus = it->link.num_platforms = 1;

	it->card.dev = dev;
	it->card.owner = THIS_MODULE;
	it->card.dai_link = &it->link;
	it->card.num_links = 1;
	ret = snd_soc_of_parse_card_name(&it->card, "model");
	if (ret)
		return ret;
	ret = devm_snd_soc_register_card(dev, &it->card);
	return ret ? dev_err_probe(dev, ret, "The card cannot be registered\n") : 0;
}

#endif
